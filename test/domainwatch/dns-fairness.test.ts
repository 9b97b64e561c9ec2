import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, startScriptedDns, type Handler } from '../dns/scripted.ts'
import { DNS } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, send } from '../support/http.ts'
import { startService } from '../support/service.ts'

const FOUND: ReturnType<Handler> = { answers: [ns('propio.cl', 'ns1.hosting.cl')] }
const dns = await startScriptedDns(({ name }) => (name.startsWith('propio') ? FOUND : 'silence'))
const service = await startService({
  flags: { 'dns-servers': dns.address },
  limits: { dnsInFlight: 16 },
})
const { key: otherKey } = await service.newKey('otra', 'domainwatch')
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

/** A bulk call whose names nobody answers for, and which is under way. */
async function silentCall(number: number, signal: AbortSignal): Promise<Response> {
  const names = Array.from({ length: 50 }, (_, i) => `mudo-${number}-${i}.cl`)
  return fetch(`${service.url}${DNS}?api=${service.domainKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // The first line shows that the call has begun.
    body: JSON.stringify({ data: ['no es un nombre', ...names] }),
    signal,
  })
}

test('bulk calls of one account leave capacity for the others', async () => {
  const leaving = new AbortController()
  const calls = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7, 8].map((number) => silentCall(number, leaving.signal)),
  )
  assert.deepEqual(
    calls.map(({ status }) => status),
    Array(8).fill(200),
  )
  const ninth = await silentCall(9, leaving.signal)
  assert.deepEqual([ninth.status, ninth.headers.get('retry-after')], [503, '1'])
  // Its look-ups would otherwise wait behind four hundred silent ones, of which eight run for three seconds each.
  const other = await send(service, DNS, { data: ['propio.cl'] }, { query: { api: otherKey } })
  assert.equal(other.text, '{"status":200,"domain":"propio.cl","dns":["ns1.hosting.cl"]}\n')
  assert.ok(
    dns.queries.every(({ name }) => !/^mudo-\d-4\d/.test(name)),
    'the silent calls are still waiting',
  )
  leaving.abort()
  await Promise.allSettled(calls.map((response) => response.text()))
  // A call that was left frees its slot.
  await eventually(async () => {
    const again = await send(service, DNS, { data: ['propio.cl'] }, { query: { api: service.domainKey } })
    assert.ok(again.status === 200 || again.status === 503)
    return again.status === 200
  })
})

test('single look-ups of one account leave capacity for the others', async () => {
  const single = (domain: string, api: string) => call(service, DNS, { query: { api, domain } })
  const silent = Array.from({ length: 40 }, (_, i) => single(`mudo-solo-${i}.cl`, service.domainKey))
  const asked = () => dns.queries.filter(({ name }) => name.startsWith('mudo-solo')).length
  await eventually(() => asked() >= 4)
  const other = await single('propio-dos.cl', otherKey)
  assert.equal(other.status, 200)
  const statuses = (await Promise.all(silent)).map(({ status }) => status)
  assert.ok(statuses.every((status) => status === 504 || status === 503))
  assert.ok(statuses.includes(503), 'the wait for a slot has an end')
})
