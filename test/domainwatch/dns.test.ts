import { parseError } from '../support/error-codes.ts'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Handler } from '../dns/scripted.ts'
import { DNS } from '../support/domains.ts'
import { call, send } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { eventually } from '../support/eventually.ts'

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

test('dns of a name without an answer: 504 within 3 s', async () => {
  const start = performance.now()
  const { body } = await ask('mudo.cl')
  assert.ok(performance.now() - start < 30_000)
  const msg = 'Los servidores DNS no respondieron a tiempo'
  assert.deepEqual(body, { status: 504, domain: 'mudo.cl', dns: [], msg })
})

test('a name that is not under .cl is a 400, and nothing is looked up', async () => {
  const asked = dns.queries.length
  const msg = 'El parámetro domain debe ser un nombre de dominio completo, con el sufijo .cl'
  for (const domain of [undefined, '', 'ejemplo', 'ejemplo.com', 'ejem_plo.cl', '127.0.0.1']) {
    const { body } = await call(service, DNS, {
      query: { api: service.domainKey, ...(domain !== undefined && { domain }) },
    })
    assert.deepEqual(body, { status: 400, msg })
  }
  assert.equal(dns.queries.length, asked)
})

test('too many concurrent look-ups: 503 with Retry-After', async () => {
  await using small = await startService({
    flags: { 'dns-servers': dns.address },
    limits: { dnsInFlight: 1 },
  })
  const query = (domain: string) => ({ query: { api: small.domainKey, domain } })
  // There is a silent one under way at nearly every moment; how long a moment is depends on the machine.
  let isOver = false
  const busy = (async () => {
    for (let i = 0; !isOver; i++) await call(small, DNS, query(`mudo${i}.cl`))
  })()
  let reply = await call(small, DNS, query('libre.cl'))
  for (let i = 0; reply.status !== 503; i++) {
    script[`otro${i}.cl`] = { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 300, 300)] }
    reply = await call(small, DNS, query(`otro${i}.cl`))
  }
  assert.deepEqual(reply.body, { status: 503, msg: 'El servicio está saturado, inténtelo de nuevo' })
  assert.equal(reply.headers.get('retry-after'), '1')
  isOver = true
  await busy
})

const bulk = (data: unknown, encoding?: 'json' | 'urlencoded' | 'multipart') =>
  send(service, DNS, { data }, { query: { api: service.domainKey }, ...(encoding && { encoding }) })

test('many names in one call: one line each, equal to single look-ups, invalid names included', async () => {
  for (const encoding of ['urlencoded', 'multipart', 'json'] as const) {
    const asked = [...ANSWERS.map(([domain]) => domain), 'sin-sufijo', 7, 'registrado.cl']
    const reply = await bulk(asked, encoding)
    assert.equal(reply.status, 200)
    assert.equal(reply.headers.get('content-type'), 'application/x-ndjson')
    const takes = 'El nombre debe ser un nombre de dominio completo, con el sufijo .cl'
    const wanted = [
      ...ANSWERS.map(([domain, status, rest]) => ({ status, domain, ...rest })),
      { status: 400, domain: 'sin-sufijo', dns: [], msg: takes },
      { status: 400, domain: 7, dns: [], msg: takes },
      { status: 200, domain: 'registrado.cl', dns: FOUND },
    ]
    const lines = reply.text.trimEnd().split('\n')
    assert.deepEqual(lines.map((line) => parseError(line)).toSorted(byText), wanted.toSorted(byText))
  }
})

const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

test('a thousand names are complete; responses do not wait for silent servers', async () => {
  const fresh = Array.from({ length: 998 }, (_, i) => `nuevo-${i % 499}.cl`)
  for (const name of fresh) script[name] = { answers: [ns(name, 'ns1.hosting.cl')] }
  const response = await fetch(`${service.url}${DNS}?api=${service.domainKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: ['mudo-1.cl', ...fresh, 'mudo-2.cl'] }),
  })
  const lines = (await response.text()).trimEnd().split('\n')
  assert.equal(lines.length, 1_000)
  const statuses = lines.map((line): unknown => JSON.parse(line).status)
  assert.equal(statuses[0], 200, 'the first name that was asked for is silent, and nobody waits for it')
  assert.equal(statuses.filter((status) => status === 504).length, 2)
  // Asked again only where the answer was slow in coming, and then by another id.
  const questions = dns.queries.filter(({ name }) => name.startsWith('nuevo-'))
  assert.equal(new Set(questions.map(({ name }) => name)).size, 499)
  assert.ok(questions.length < 998)
})

test('lines are sent as answers arrive; a client that disconnects stops the look-ups', async () => {
  // A load balancer continues to read the response for a client that has left.
  assert.ok(service.app)
  const released = Promise.withResolvers<void>()
  script['lento.cl'] = released.promise.then(() => ({ answers: [ns('lento.cl', 'ns1.hosting.cl')] }))
  const leaving = new AbortController()
  const names = Array.from({ length: 998 }, (_, i) => `mudo-largo-${i}.cl`)
  const response = await fetch(`${service.url}${DNS}?api=${service.domainKey}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: ['registrado.cl', 'lento.cl', ...names] }),
    signal: leaving.signal,
  })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const line = async () => JSON.parse((await reader?.read())?.value ?? '')
  assert.deepEqual(await line(), { status: 200, domain: 'registrado.cl', dns: FOUND })
  released.resolve()
  assert.deepEqual(await line(), { status: 200, domain: 'lento.cl', dns: ['ns1.hosting.cl'] })
  leaving.abort()
  await assert.rejects(reader?.read() ?? Promise.resolve())
  // All that had been begun ends; nothing is begun any more.
  await eventually(async () => (await inFlight()) === 0)
  const asked = new Set(dns.queries.map(({ name }) => name).filter((name) => name.startsWith('mudo-largo')))
  assert.ok(asked.size < 200, `${asked.size} names were asked for`)
})

async function inFlight(): Promise<number> {
  const { text } = await call(service, '/metrics', { query: { api: service.domainKey } })
  return Number(/^catalejo_dns_in_flight (\d+)$/m.exec(text)?.[1])
}

test('a body without a list of names is a 400', async () => {
  const refused = async (data: unknown) => (await bulk(data)).body
  const answer = (msg: string) => ({ status: 400, msg })
  const missing = await send(service, DNS, {}, { query: { api: service.domainKey } })
  assert.deepEqual(missing.body, answer('Falta el parámetro data'))
  assert.deepEqual(await refused('['), answer('El parámetro data no es JSON válido'))
  assert.deepEqual(await refused({}), answer('El parámetro data debe ser un arreglo de nombres'))
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  assert.equal((await bulk(`[${deep},"nic.cl"]`, 'json')).status, 400)
  const many = Array.from({ length: 1_001 }, () => 'nic.cl')
  assert.deepEqual(await refused(many), answer('El parámetro data admite 1000 nombres como máximo'))
  assert.equal((await bulk([])).text, '')
})
