import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Handler } from '../dns/scripted.ts'
import { DNS } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'

const script: Record<string, ReturnType<Handler>> = {
  'registrado.cl': {
    answers: [ns('registrado.cl', 'NS2.Hosting.CL'), ns('registrado.cl', 'ns1.hosting.cl')],
  },
  'repetido.cl': { answers: [ns('repetido.cl', 'ns.hosting.cl'), ns('repetido.cl', 'NS.hosting.cl')] },
  'xn--and-6ma2c.cl': { answers: [ns('xn--and-6ma2c.cl', 'ns1.hosting.cl')] },
  'vacio.cl': { authorities: [soa('cl', 300, 300)] },
  'libre.cl': { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 300, 300)] },
  'rechazado.cl': { rcode: RCODE.REFUSED },
  'fallido.cl': { rcode: RCODE.SERVFAIL },
}
const dns = await startScriptedDns(({ name }) => script[name.toLowerCase()] ?? 'silence')
const service = await startService({ flags: { 'dns-servers': dns.address } })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

const ask = (domain: string) => call(service, DNS, { query: { api: service.domainKey, domain } })

const FOUND = ['ns1.hosting.cl', 'ns2.hosting.cl']
const ANSWERS: readonly [string, number, Readonly<Record<string, unknown>>][] = [
  ['registrado.cl', 200, { dns: FOUND }],
  ['REGISTRADO.CL', 200, { dns: FOUND }],
  ['registrado.cl.', 200, { dns: FOUND }],
  ['repetido.cl', 200, { dns: ['ns.hosting.cl'] }],
  ['ñandú.cl', 200, { dns: ['ns1.hosting.cl'] }],
  ['ÑANDÚ.CL.', 200, { dns: ['ns1.hosting.cl'] }],
  ['xn--and-6ma2c.cl', 200, { dns: ['ns1.hosting.cl'] }],
  ['vacio.cl', 200, { dns: [] }],
  ['libre.cl', 404, { dns: [], msg: 'El dominio no existe' }],
  ['rechazado.cl', 502, { dns: [], msg: 'Los servidores DNS rechazaron la consulta' }],
  ['fallido.cl', 502, { dns: [], msg: 'Los servidores DNS no pudieron responder' }],
]

for (const [domain, status, rest] of ANSWERS) {
  test(`dns of ${domain}: ${status}`, async () => {
    // The second answer comes from the cache, and is the same.
    for (let i = 0; i < 2; i++) assert.deepEqual((await ask(domain)).body, { status, domain, ...rest })
  })
}

test('dns of a name that nobody answers for: 504 within 3 s', async () => {
  const start = performance.now()
  const { body } = await ask('mudo.cl')
  assert.ok(performance.now() - start < 3_500)
  const msg = 'Los servidores DNS no respondieron a tiempo'
  assert.deepEqual(body, { status: 504, domain: 'mudo.cl', dns: [], msg })
})

const BAD = [
  '',
  ' ',
  'cl',
  '.cl',
  'ejemplo',
  'ejemplo.com',
  'ejemplo.cl.com',
  'ejemplo..cl',
  'ejemplo.cl..',
  '-ejemplo.cl',
  'ejem_plo.cl',
  'xn--.cl',
  `${'a'.repeat(64)}.cl`,
  `${'a.'.repeat(130)}cl`,
  'a b.cl',
  '\0.cl',
  '127.0.0.1',
]

for (const domain of BAD) {
  test(`dns of ${JSON.stringify(domain.slice(0, 30))}: 400`, async () => {
    const asked = dns.queries.length
    const msg = 'El parámetro domain debe ser un nombre de dominio completo, con el sufijo .cl'
    assert.deepEqual((await ask(domain)).body, { status: 400, msg })
    assert.equal(dns.queries.length, asked)
  })
}

test('dns without domain: 400', async () => {
  const { body } = await call(service, DNS, { query: { api: service.domainKey } })
  const msg = 'El parámetro domain debe ser un nombre de dominio completo, con el sufijo .cl'
  assert.deepEqual(body, { status: 400, msg })
})

test('too many questions at once: 503 that says when to come again', async () => {
  const replies = await Promise.all(Array.from({ length: 1_100 }, (_, i) => ask(`mudo${i}.cl`)))
  const overloaded = replies.filter(({ status }) => status === 503)
  assert.ok(overloaded.length > 0)
  for (const { body, headers } of overloaded) {
    assert.deepEqual(body, { status: 503, msg: 'El servicio está saturado, inténtelo de nuevo' })
    assert.equal(headers.get('retry-after'), '1')
  }
  assert.equal(replies.filter(({ status }) => status === 504).length, 1_100 - overloaded.length)
})
