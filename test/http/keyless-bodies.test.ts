/** Bodies whose sender is not known yet: they share a budget of their own, by the address of their client. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { noBalancer, startBalancer } from '../support/balancer.ts'
import { ADD, record } from '../support/domains.ts'
import { gradient, INFO } from '../support/images.ts'
import { postFrom, stallBody, type StalledBody } from '../support/senders.ts'
import { startService, type TestService } from '../support/service.ts'

const UPLOAD = '/api/v1/imagestore/upload'
const MIB = 1024 * 1024
const STRANGERS = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5']
const VISITOR = '127.0.0.6'
const CONNECTIONS = 200
const CALLS = 25
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const photo = (await gradient(40, 30).png().toBuffer()).toString('base64')

const getHead = (path: string, declared: number) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=x\r\n` +
  `content-length: ${declared}\r\n\r\n`

interface Attack {
  readonly declared: number
  readonly sent: number
}

/** 200 connections from four addresses; resolves when the service has taken or refused what they send. */
async function attack(url: string, { declared, sent }: Attack): Promise<StalledBody[]> {
  const path = [ADD, UPLOAD]
  const bodies = Array.from({ length: CONNECTIONS }, (_, i) =>
    stallBody(url, STRANGERS[i % 4] ?? '', getHead(path[i % 2] ?? '', declared), sent),
  )
  await Promise.all(bodies.map((body) => body.sent))
  return bodies
}

/** Small adds and uploads of an honest client, with the key in the query and in the body. */
async function visit(service: TestService, url: string): Promise<number[]> {
  const calls = Array.from({ length: CALLS }, (_, i) => {
    const data = JSON.stringify([record(`sitio${i}`)])
    const upload = { image: photo, info: JSON.stringify(INFO) }
    return [
      { path: `${ADD}?api=${service.domainKey}`, fields: { data } },
      { path: ADD, fields: { data, api: service.domainKey } },
      { path: `${UPLOAD}?api=${service.imageKey}`, fields: upload },
      { path: UPLOAD, fields: { ...upload, api: service.imageKey } },
    ]
  }).flat()
  const statuses: number[] = []
  for (const { path, fields } of calls) {
    const body = new URLSearchParams(fields).toString()
    const { status } = await postFrom(`${url}${path}`, { from: VISITOR, headers: FORM, body })
    statuses.push(status)
  }
  return statuses
}

const allGood = Array<number>(4 * CALLS).fill(200)
const ATTACKS: readonly [string, Attack][] = [
  ['large bodies', { declared: 30 * MIB, sent: 2 * MIB }],
  ['small bodies', { declared: 256 * 1024, sent: 200 * 1024 }],
]

suite('200 bodies without a key from four addresses', { timeout: 300_000 }, () => {
  for (const [what, bodies] of ATTACKS) {
    test(`leave room for other clients: ${what}`, async () => {
      await using service = await startService()
      const strangers = await attack(service.url, bodies)
      assert.deepEqual(await visit(service, service.url), allGood)
      for (const { socket } of strangers) socket.destroy()
    })
  }

  test('leave room behind the balancer too', { skip: noBalancer }, async () => {
    await using service = await startService({ flags: { 'trusted-proxies': '127.0.0.1' } })
    const port = Number(new URL(service.url).port)
    await using balancer = await startBalancer([port, port])
    await balancer.until('nodes_ready/node1', ({ status }) => status === 'UP')
    const strangers = await attack(balancer.url, { declared: 30 * MIB, sent: 2 * MIB })
    // On a busy machine the balancer's own checks may have timed out meanwhile.
    await balancer.until('nodes_ready/node1', ({ status }) => status === 'UP')
    assert.deepEqual(await visit(service, balancer.url), allGood)
    for (const { socket } of strangers) socket.destroy()
  })
})
