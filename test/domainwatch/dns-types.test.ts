import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Answer, type Handler } from '../dns/scripted.ts'
import { DNS } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { parseError } from '../support/error-codes.ts'
import { call, send } from '../support/http.ts'
import { startService } from '../support/service.ts'

const DOMAIN = 'registrado.cl'
const rr = (type: string, data: unknown) => ({ name: DOMAIN, type, class: 'IN', ttl: 300, data })
const SOA = { serial: 7, refresh: 1, retry: 2, expire: 3, minimum: 4 }
const ZONE: Record<string, Answer> = {
  NS: { answers: [ns(DOMAIN, 'NS2.hosting.cl'), ns(DOMAIN, 'ns1.hosting.cl')] },
  A: { answers: [rr('A', '192.0.2.20'), rr('A', '192.0.2.10')] },
  AAAA: { authorities: [soa('cl', 300, 300)] },
  MX: {
    answers: [rr('MX', { preference: 20, exchange: 'b.cl' }), rr('MX', { preference: 10, exchange: 'a.cl' })],
  },
  TXT: { answers: [rr('TXT', ['v=spf1 ', '-all'])] },
  SOA: { answers: [rr('SOA', { mname: 'ns1.hosting.cl', rname: 'h.cl', ...SOA })] },
  CAA: { answers: [rr('CAA', { flags: 0, tag: 'issue', value: 'ca.cl' })] },
}
const RECORDS = {
  ns: ['ns1.hosting.cl', 'ns2.hosting.cl'],
  a: ['192.0.2.10', '192.0.2.20'],
  aaaa: [],
  mx: [
    { preference: 10, exchange: 'a.cl' },
    { preference: 20, exchange: 'b.cl' },
  ],
  txt: ['v=spf1 -all'],
  soa: [{ mname: 'ns1.hosting.cl', rname: 'h.cl', ...SOA }],
  caa: [{ flags: 0, tag: 'issue', value: 'ca.cl' }],
}
const EVERY = Object.keys(RECORDS).join(',')

const answer: Handler = ({ name, question }) => {
  const { type } = question
  switch (name) {
    case DOMAIN:
      return ZONE[type] ?? 'silence'
    case 'libre.cl':
      return { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 300, 300)] }
    // Its MX cannot be resolved, its TXT is refused.
    case 'enfermo.cl':
      if (type === 'NS') return { answers: [ns(name, 'ns1.hosting.cl')] }
      return { rcode: type === 'MX' ? RCODE.SERVFAIL : RCODE.REFUSED }
    // Its name servers cannot be resolved.
    case 'cojo.cl':
      if (type === 'NS') return { rcode: RCODE.SERVFAIL }
      return { answers: [{ name, type: 'A', class: 'IN', ttl: 300, data: '192.0.2.1' }] }
    default:
      return 'silence'
  }
}

const dns = await startScriptedDns(answer)
const service = await startService({ flags: { 'dns-servers': dns.address } })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

const ask = (domain: string, types?: string) =>
  call(service, DNS, { query: { api: service.domainKey, domain, ...(types !== undefined && { types }) } })

const FAILED = { status: 502, msg: 'Los servidores DNS no pudieron responder', code: 'dns_failed' }
const REFUSED = { status: 502, msg: 'Los servidores DNS rechazaron la consulta', code: 'dns_refused' }
const SICK = { ns: ['ns1.hosting.cl'], mx: [], txt: [] }

const CASES: readonly [string, string, Readonly<Record<string, unknown>>][] = [
  [DOMAIN, EVERY, { status: 200, domain: DOMAIN, dns: RECORDS.ns, records: RECORDS }],
  [DOMAIN, ' MX , mx', { status: 200, domain: DOMAIN, dns: RECORDS.ns, records: { mx: RECORDS.mx } }],
  [
    'libre.cl',
    'mx,ns',
    { status: 404, domain: 'libre.cl', dns: [], records: { mx: [], ns: [] }, msg: 'El dominio no existe' },
  ],
  [
    'enfermo.cl',
    'ns,mx,txt',
    {
      status: 200,
      domain: 'enfermo.cl',
      dns: SICK.ns,
      records: SICK,
      errors: { mx: FAILED, txt: REFUSED },
    },
  ],
  [
    'cojo.cl',
    'ns,a',
    {
      domain: 'cojo.cl',
      dns: [],
      records: { ns: [], a: ['192.0.2.1'] },
      errors: { ns: FAILED },
      status: 502,
      msg: FAILED.msg,
    },
  ],
]

for (const [domain, types, wanted] of CASES) {
  test(`dns of ${domain} with types=${types}`, async () => {
    for (let i = 0; i < 2; i++) {
      const { status, body } = await ask(domain, types)
      assert.equal(status, wanted['status'])
      assert.deepEqual(body, wanted)
    }
  })
}

test('many names with types give the same responses by query and by any body', async () => {
  const data = CASES.map(([domain]) => domain)
  const lines = (text: string) =>
    new Set(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.stringify(JSON.parse(line))),
    )
  const types = EVERY.toUpperCase()
  const query = { api: service.domainKey }
  const wanted = await send(service, DNS, { data }, { query: { ...query, types } })
  assert.equal(wanted.status, 200)
  for (const [, line] of [...lines(wanted.text)].entries()) {
    const { domain, ...rest } = Object(parseError(line))
    assert.deepEqual({ domain, ...rest }, (await ask(domain, EVERY)).body)
  }
  for (const encoding of ['urlencoded', 'multipart', 'json'] as const) {
    const reply = await send(service, DNS, { data, types }, { query, encoding })
    assert.deepEqual(lines(reply.text), lines(wanted.text), encoding)
  }
  const first = await send(service, DNS, { data, types: 'nada' }, { query: { ...query, types } })
  assert.deepEqual(lines(first.text), lines(wanted.text), 'the query takes precedence')
})

test('an unknown type is a 400, and nothing is looked up', async () => {
  const asked = dns.queries.length
  const msg = 'El parámetro types debe ser una lista de ns, a, aaaa, mx, txt, soa o caa, separados por comas'
  for (const types of ['', 'ptr', 'mx,', 'mx;txt', 'mx,any']) {
    assert.deepEqual((await ask('nuevo.cl', types)).body, { status: 400, msg }, types)
    const query = { api: service.domainKey }
    const inQuery = await send(service, DNS, { data: ['nuevo.cl'] }, { query: { ...query, types } })
    const inBody = await send(service, DNS, { data: ['nuevo.cl'], types }, { query })
    assert.deepEqual(
      [inQuery.body, inBody.body],
      [
        { status: 400, msg },
        { status: 400, msg },
      ],
      types,
    )
  }
  const list = await send(
    service,
    DNS,
    { data: ['nuevo.cl'], types: ['mx'] },
    { query: { api: service.domainKey }, encoding: 'json' },
  )
  assert.deepEqual(list.body, { status: 400, msg })
  assert.equal(dns.queries.length, asked)
})

test("each type counts as a look-up in the account's share", async () => {
  const flags = { 'dns-servers': dns.address }
  await using small = await startService({ flags, limits: { dnsInFlight: 16 } })
  const { key } = await small.newKey('otra', 'domainwatch')
  const before = dns.queries.length
  // A call with seven types of a silent name takes the four look-ups that one account may run of single ones.
  const silent = call(small, DNS, { query: { api: small.domainKey, domain: 'mudo.cl', types: EVERY } })
  const queries = () => dns.queries.slice(before).filter(({ name }) => name === 'mudo.cl')
  const types = () => new Set(queries().map(({ question }) => question.type))
  await eventually(() => types().size === 4)
  const other = await call(small, DNS, { query: { api: key, domain: DOMAIN, types: 'mx' } })
  assert.deepEqual(other.body, { status: 200, domain: DOMAIN, dns: RECORDS.ns, records: { mx: RECORDS.mx } })
  assert.equal(types().size, 4, 'the other look-ups of the silent name wait for their turn')
  assert.equal((await silent).status, 504)
})

test('a bulk call with types runs no more look-ups at a time than one without', async () => {
  const leaving = new AbortController()
  const names = Array.from({ length: 40 }, (_, i) => `mudo-tipos-${i}.cl`)
  const response = await fetch(`${service.url}${DNS}?api=${service.domainKey}&types=${EVERY}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    // The first line shows that the call has begun.
    body: JSON.stringify({ data: ['no es un nombre', ...names] }),
    signal: leaving.signal,
  })
  const asked = () => new Set(dns.queries.map(({ name }) => name).filter((name) => names.includes(name)))
  await eventually(() => asked().size >= 14)
  assert.equal(asked().size, 14, 'fourteen names with seven look-ups each')
  leaving.abort()
  await assert.rejects(response.text())
})

test('in mode parent name servers are those of the delegation, and other types are looked up by the resolvers', async () => {
  const parent = await startScriptedDns(({ name }) => ({
    flags: 0,
    authorities: [ns(name, 'NS1.hosting.cl')],
  }))
  const flags = { 'dns-parent': parent.address, 'dns-servers': dns.address }
  await using other = await startService({ flags })
  const { body } = await call(other, DNS, { query: { api: other.domainKey, domain: DOMAIN, types: 'a,ns' } })
  const records = { ns: ['ns1.hosting.cl'], a: RECORDS.a }
  assert.deepEqual(body, { status: 200, domain: DOMAIN, dns: ['ns1.hosting.cl'], records })
  assert.deepEqual(
    parent.queries.map(({ recursive }) => recursive),
    [false],
  )
  await parent.stop()
})
