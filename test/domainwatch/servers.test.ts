import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ns, RCODE, startScriptedDns, type Answer } from '../dns/scripted.ts'
import { DNS, names, storedNames } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, send, type Fields } from '../support/http.ts'
import { startService } from '../support/service.ts'

/** What the DNS says: name servers, mail servers and addresses, by name. */
const ZONE: Record<string, readonly [ns: readonly string[], mx: readonly string[], a: readonly string[]]> = {
  'falso-banco': [['ns1.malo.example', 'ns2.malo.example'], ['mail.malo.example'], ['192.0.2.7']],
  'banco-falso': [['NS1.malo.example'], ['.'], ['192.0.2.7', '192.0.2.8']],
  panaderia: [['ns1.bueno.example'], ['mail.malo.example'], ['192.0.2.9']],
  nadie: [['ns1.malo.example'], [], ['192.0.2.7']],
}

const dns = await startScriptedDns(({ name, question }): Answer => {
  const known = ZONE[name.toLowerCase().replace(/\.cl$/, '')]
  if (known === undefined) return { rcode: RCODE.SERVFAIL }
  const [nameServers, mail, addresses] = known
  const rr = (type: string, data: unknown) => ({ name, type, class: 'IN', ttl: 300, data })
  switch (question.type) {
    case 'NS':
      return { answers: nameServers.map((host) => ns(name, host)) }
    case 'MX':
      return { answers: mail.map((exchange) => rr('MX', { preference: 10, exchange })) }
    case 'AAAA':
      return { answers: [rr('AAAA', '2001:db8:0:0::7')] }
    default:
      return { answers: addresses.map((address) => rr('A', address)) }
  }
})
const service = await startService({ flags: { 'dns-servers': dns.address } })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

before(async () => {
  const recorded = ['falso-banco', 'banco-falso', 'panaderia', 'sin-consultar']
  await storedNames(service, recorded)
  for (const name of Object.keys(ZONE))
    await call(service, DNS, { query: { api: service.domainKey, domain: `${name}.cl`, types: 'mx,a,aaaa' } })
  // Observations are stored soon after the answers.
  await eventually(async () => {
    const stored = [await found({ ns: 'ns1.bueno.example' }), await found({ mx: 'mail.malo.example' })]
    const addressed = [await found({ ip: '192.0.2.9' }), await found({ ip: '2001:db8::7' })]
    return [...stored, ...addressed].map(({ length }) => length).join() === '1,2,1,3'
  }, 'observations are stored')
})

const found = (query: Fields) => names(service, { order: 'name', sort: 'asc', ...query })

test('names that were seen with the same servers are found', async () => {
  assert.deepEqual(await found({ ns: 'NS1.Malo.example.' }), ['banco-falso', 'falso-banco'])
  assert.deepEqual(await found({ ns: 'ns2.malo.example' }), ['falso-banco'])
  assert.deepEqual(await found({ mx: 'mail.malo.example' }), ['falso-banco', 'panaderia'])
  assert.deepEqual(await found({ ip: '192.0.2.7' }), ['banco-falso', 'falso-banco'])
  assert.deepEqual(await found({ ip: '2001:0db8::0:7' }), ['banco-falso', 'falso-banco', 'panaderia'])
  assert.deepEqual(await found({ ns: 'ns1.otro.example' }), [])
})

test('such filters are combined with each other and with all others', async () => {
  assert.deepEqual(await found({ ns: 'ns1.malo.example', mx: 'mail.malo.example' }), ['falso-banco'])
  assert.deepEqual(await found({ ip: '192.0.2.7', search: 'banco', starts: 'banco' }), ['banco-falso'])
  assert.deepEqual(await found({ ns: 'ns1.bueno.example', ip: '192.0.2.7' }), [])
})

test('statistics, exports, the queue and bulk changes take them too', async () => {
  const api = service.domainKey
  const filter = { ns: 'ns1.malo.example' }
  const stats = await call(service, '/api/v1/domainwatch/stats', { query: { api, ...filter } })
  assert.equal(Object(stats.body).totals.records, 2)
  const other = await call(service, '/api/v1/domainwatch/stats', { query: { api, ns: 'ns2.malo.example' } })
  assert.equal(Object(other.body).totals.records, 1)
  const exported = await call(service, '/api/v1/domainwatch/export', { query: { api, ...filter } })
  assert.equal(exported.text.trim().split('\n').length, 3)
  const queue = await send(service, '/api/v1/domainwatch/queue', { api, ...filter, limit: '1' })
  assert.deepEqual([Object(queue.body).count, Object(queue.body).remaining], [1, 2])
  const bulk = await send(service, '/api/v1/domainwatch/bulk', { api, ...filter, set: { seen: 1 } })
  assert.deepEqual([bulk.status, Object(bulk.body).matched], [202, 2])
})
