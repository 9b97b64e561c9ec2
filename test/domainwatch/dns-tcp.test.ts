/** TCP is used for truncated responses only, seen from the name server. */
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { FLAG, ns, reply, startScriptedDns, type Asked, type Reaction } from '../dns/scripted.ts'
import { call, send } from '../support/http.ts'
import { DNS } from '../support/domains.ts'
import { startService } from '../support/service.ts'

const NAMES = 600

async function setUp(react: (asked: Asked) => Reaction) {
  const connections: Socket[] = []
  const dns = await startScriptedDns(react, (socket) => connections.push(socket))
  const service = await startService({ flags: { 'dns-servers': dns.address } })
  return {
    connections,
    over: (transport: Asked['transport']) =>
      dns.queries.filter((query) => query.transport === transport).length,
    one: (domain: string) => call(service, DNS, { query: { api: service.domainKey, domain } }),
    many: () =>
      send(
        service,
        DNS,
        { data: Array.from({ length: NAMES }, (_, i) => `d${i}.cl`) },
        { query: { api: service.domainKey } },
      ),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await dns.stop()
    },
  }
}

const found = ({ name }: Asked): Reaction => ({ answers: [ns(name, `ns.${name}`)] })
const toLines = (text: string) => text.split('\n').filter(Boolean).toSorted()
const WANTED = Array.from({ length: NAMES }, (_, i) =>
  JSON.stringify({ status: 200, domain: `d${i}.cl`, dns: [`ns.d${i}.cl`] }),
).toSorted()

test('only truncated responses open a connection', async () => {
  await using setting = await setUp((question) =>
    question.name === 'largo.cl' && question.transport === 'udp' ? { flags: FLAG.TC } : found(question),
  )
  assert.deepEqual(toLines((await setting.many()).text), WANTED)
  assert.deepEqual([setting.connections.length, setting.over('tcp')], [0, 0])
  assert.ok(setting.over('udp') >= NAMES)

  const { body } = await setting.one('largo.cl')
  assert.deepEqual(body, { status: 200, domain: 'largo.cl', dns: ['ns.largo.cl'] })
  assert.deepEqual([setting.connections.length, setting.over('tcp')], [1, 1])
})

test('an answer whose compressed names decode to much more than a message is a failure', async () => {
  const labels = Array.from({ length: 120 }, () => [1, 0x78]).flat()
  await using setting = await setUp((asked) => {
    if (asked.transport === 'udp') return { flags: FLAG.TC | FLAG.RA }
    const question = reply(asked, { flags: FLAG.RA })
    const record = (target: number[]) => [0xc0, 12, 0, 2, 0, 1, 0, 0, 0, 60, 0, target.length, ...target]
    // The targets are names of 120 labels, of which all but the first have one label and a pointer to the rest.
    const rest = question.length + 12
    const pointer = [0xc0 | (rest >> 8), rest & 0xff]
    const names = asked.name === 'pocos.cl' ? 200 : 2_000
    const others = Array.from({ length: names }, (_, i) =>
      record([2, 0x61 + (i % 26), 0x61 + ((i / 26) % 26), ...pointer]),
    )
    const bytes = Buffer.concat([question, Buffer.from([...record([...labels, 0]), ...others.flat()])])
    bytes.writeUInt16BE(1 + names, 6)
    return [bytes]
  })
  assert.equal((await setting.one('pocos.cl')).status, 200)
  const { status, body } = await setting.one('muchos.cl')
  assert.equal(status, 502)
  assert.deepEqual(body, {
    status: 502,
    domain: 'muchos.cl',
    dns: [],
    msg: 'Los servidores DNS no pudieron responder',
  })
})
