import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { localDateTime } from '../../src/lib/dates.ts'
import { ns, RCODE, soa, startScriptedDns, type Handler } from '../dns/scripted.ts'
import { DNS, record, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call, nextQuery, send, type Fields } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const HISTORY = '/api/v1/domainwatch/history'
const CURSOR = 'El parámetro cursor debe ser el de la cabecera Link de la página anterior'
const DAY_MS = 86_400_000
const local = (ms: number) => localDateTime(ms, 'America/Santiago')

let answers: Record<string, ReturnType<Handler>> = {}
const dns = await startScriptedDns(({ name }) => answers[name.toLowerCase()] ?? { rcode: RCODE.SERVFAIL })
const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock, flags: { 'dns-servers': dns.address } })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

interface Entry {
  readonly date: string
  readonly account: string | null
  readonly kind: string
  readonly from: Fields | null
  readonly to: Fields | null
}

interface History {
  readonly status: number
  readonly domain: string
  readonly count: number
  readonly data: readonly Entry[]
  readonly dns: readonly Fields[]
}

async function history(domain: string, query: Fields = {}) {
  const reply = await call(service, HISTORY, { query: { api: service.domainKey, domain, ...query } })
  assert.equal(reply.status, 200, reply.text)
  // Asserted to the last field by who asks for it.
  return { ...(reply.body as History), next: nextQuery(service, HISTORY, reply) }
}

const undated = ({ date, ...rest }: Entry) => {
  assert.match(date, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
  return rest
}

const NOW = '2026-01-15 09:00:00'
const whole = (changed: Fields = {}) => ({
  agent: 'grupo',
  status: 1,
  reserved: 0,
  revision: 0,
  discarded: 0,
  date_reg: '2025-12-31 14:30:34',
  date_mod: NOW,
  deleted_at: null,
  discarded_at: null,
  seen: 0,
  note: '',
  tags: [],
  ...changed,
})

test('every change has author, time, old and new values, newest first', async () => {
  const { key } = await service.newKey('Ana "Ñ"', 'domainwatch')
  await stored(service, [record('ñandú')])
  clock.advance(1_000)
  // An equal record is not a change.
  await stored(service, [record('ñandú')])
  await stored(service, [record('ñandú', { status: 0 })], { key })
  clock.advance(1_000)
  await update(service, [{ domain: 'ñandú', discarded: 1, revision: 1 }])
  clock.advance(1_000)
  await update(service, [{ domain: 'ñandú', discarded: 0 }], { key })
  await update(service, [{ domain: 'ñandú', agent: 'Otra' }])

  const [one, two, three] = ['2026-01-15 09:00:01', '2026-01-15 09:00:02', '2026-01-15 09:00:03']
  const discarded_at = '2026-01-15T12:00:02.000Z'
  const { next, data, ...rest } = await history('ñandú')
  assert.deepEqual(rest, { status: 200, domain: 'ñandú', count: 5, dns: [], mx: [] })
  assert.equal(next, undefined)
  assert.deepEqual(data.map(undated), [
    { account: 'grupo', kind: 'changed', from: { agent: 'grupo' }, to: { agent: 'Otra' } },
    {
      account: 'Ana "Ñ"',
      kind: 'restored',
      from: { discarded: 1, date_mod: two, discarded_at },
      to: { discarded: 0, date_mod: three, discarded_at: null },
    },
    {
      account: 'grupo',
      kind: 'discarded',
      from: { revision: 0, discarded: 0, date_mod: one, discarded_at: null },
      to: { revision: 1, discarded: 1, date_mod: two, discarded_at },
    },
    {
      account: 'Ana "Ñ"',
      kind: 'changed',
      from: { status: 1, date_mod: NOW, deleted_at: null },
      to: { status: 0, date_mod: one, deleted_at: one },
    },
    { account: 'grupo', kind: 'added', from: null, to: whole() },
  ])
  for (const same of ['ÑANDÚ.cl', ' xn--and-6ma2c ', 'xn--and-6ma2c.CL.'])
    assert.deepEqual((await history(same)).data, data)
})

test('decisions, notes and tags have their author, and a new status resets a decision', async () => {
  const { key } = await service.newKey('Eva', 'domainwatch')
  await stored(service, [record('decidida')])
  await update(service, [{ domain: 'decidida', seen: 1, note: 'mía', tags: ['b', 'a'] }], { key })
  await update(service, [{ domain: 'decidida', note: '', tags: ['a'] }])
  clock.advance(1_000)
  await stored(service, [record('decidida', { status: 0 })])
  const { data } = await history('decidida')
  const [before, now] = [local(clock.now() - 1_000), local(clock.now())]
  assert.deepEqual(data.map(undated).slice(0, 3), [
    {
      account: 'grupo',
      kind: 'changed',
      from: { status: 1, date_mod: before, deleted_at: null, seen: 1 },
      to: { status: 0, date_mod: now, deleted_at: now, seen: 0 },
    },
    {
      account: 'grupo',
      kind: 'changed',
      from: { note: 'mía', tags: ['b', 'a'] },
      to: { note: '', tags: ['a'] },
    },
    {
      account: 'Eva',
      kind: 'changed',
      from: { seen: 0, note: '', tags: [] },
      to: { seen: 1, note: 'mía', tags: ['b', 'a'] },
    },
  ])
})

test('the history of an expired record stays, and continues when the name is added again', async () => {
  await stored(service, [record('vuelve')])
  await update(service, [{ domain: 'vuelve', discarded: 1 }])
  const gone = local(clock.now() + 7 * DAY_MS)
  clock.advance(7 * DAY_MS + 60_000)
  await stored(service, [record('vuelve')])
  const { data } = await history('vuelve')
  assert.deepEqual(
    data.map(({ kind, account }) => [kind, account]),
    [
      ['added', 'grupo'],
      ['deleted', null],
      ['discarded', 'grupo'],
      ['added', 'grupo'],
    ],
  )
  const [, deleted] = data
  // Not when it was swept: when its days were over.
  assert.equal(deleted?.date, gone)
  assert.equal(deleted?.to, null)
  assert.equal(deleted?.from?.['discarded'], 1)
})

test('pages are contiguous, whatever is written between them', async () => {
  await stored(service, [record('paginas')])
  for (let i = 0; i < 7; i++) await update(service, [{ domain: 'paginas', agent: `A${i}` }])
  const agents: unknown[] = []
  let query: Fields | undefined = { limit: 3 }
  while (query !== undefined) {
    const { data, next } = await history('paginas', query)
    agents.push(...data.map(({ to }) => to?.['agent']))
    query = next
    await update(service, [{ domain: 'paginas', agent: `entre ${agents.length}` }])
  }
  assert.deepEqual(agents, ['A6', 'A5', 'A4', 'A3', 'A2', 'A1', 'A0', 'grupo'])
})

test('a name that was never recorded has no history; invalid parameters are rejected', async () => {
  const { next, ...body } = await history('nunca')
  assert.deepEqual(body, { status: 200, domain: 'nunca', count: 0, data: [], dns: [], mx: [] })
  assert.equal(next, undefined)
  const bad = async (query: Fields) =>
    (await call(service, HISTORY, { query: { api: service.domainKey, ...query } })).body
  const name = { status: 400, msg: 'El parámetro domain debe ser un nombre de dominio .cl válido' }
  for (const query of [{}, { domain: 'www.uno.cl' }]) assert.deepEqual(await bad(query), name)
  for (const cursor of ['x', '-1', '1'.repeat(16)])
    assert.deepEqual(await bad({ domain: 'uno', cursor }), { status: 400, msg: CURSOR })
  assert.deepEqual(await bad({ domain: 'uno', limit: 0 }), {
    status: 400,
    msg: 'El parámetro limit debe ser un entero entre 1 y 1024',
  })
  const foreign = await call(service, HISTORY, { query: { api: service.imageKey, domain: 'uno' } })
  assert.equal(foreign.status, 403)
})

const ask = (domain: string) => call(service, DNS, { query: { api: service.domainKey, domain } })

/** Name servers are written down a moment after they were seen. */
async function seen(domain: string, count: number) {
  let { dns: entries } = await history(domain)
  await eventually(
    async () => {
      ;({ dns: entries } = await history(domain))
      return entries.length >= count
    },
    () => `${entries.length} of ${count} entries`,
  )
  return entries
}

test('bulk look-ups are recorded too, except for names not recorded and subdomains', async () => {
  await stored(service, [record('masivo')])
  answers = Object.fromEntries(
    ['masivo.cl', 'ajeno.cl', 'www.masivo.cl'].map((name) => [name, { answers: [ns(name, 'ns.dos.cl', 0)] }]),
  )
  const data = ['masivo.cl', 'ajeno.cl', 'www.masivo.cl', 'mudo.cl']
  const reply = await send(service, DNS, { data }, { encoding: 'json', query: { api: service.domainKey } })
  assert.equal(reply.text.trim().split('\n').length, 4)
  const at = local(clock.now())
  assert.deepEqual(await seen('masivo', 1), [{ status: 200, dns: ['ns.dos.cl'], first: at, last: at }])
  await stored(service, [record('ajeno')])
  // Whatever was seen before it was recorded was written, or left, together with the other.
  assert.deepEqual((await history('ajeno')).dns, [])
})

test('observed name servers: each difference is an entry, failures are ignored', async () => {
  await stored(service, [record('visto')])
  const gone = { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 0, 0)] }
  const script: [ReturnType<Handler>, number][] = [
    [{ answers: [ns('visto.cl', 'NS2.uno.cl', 0), ns('visto.cl', 'ns1.uno.cl', 0)] }, 200],
    [{ answers: [ns('visto.cl', 'ns1.uno.cl', 0), ns('visto.cl', 'ns2.uno.cl', 0)] }, 200],
    [gone, 404],
    [{ authorities: [soa('cl', 0, 0)] }, 200],
    [{ answers: [ns('visto.cl', 'ns1.uno.cl', 0), ns('visto.cl', 'ns2.uno.cl', 0)] }, 200],
    // The resolver spares a server that refuses for a while, so this comes last.
    [{ rcode: RCODE.REFUSED }, 502],
  ]
  const times: string[] = []
  for (const [answer, status] of script) {
    answers = { 'visto.cl': answer }
    clock.advance(60_000)
    times.push(local(clock.now()))
    assert.equal((await ask('visto.cl')).status, status)
    if (status === 502) continue
    // The last answer between two writes counts.
    const last = async () => (await history('visto')).dns[0]?.['last']
    await eventually(async () => (await last()) === times.at(-1))
  }
  const uno = ['ns1.uno.cl', 'ns2.uno.cl']
  assert.deepEqual((await history('visto')).dns, [
    { status: 200, dns: uno, first: times[4], last: times[4] },
    { status: 200, dns: [], first: times[3], last: times[3] },
    { status: 404, dns: [], first: times[2], last: times[2] },
    { status: 200, dns: uno, first: times[0], last: times[1] },
  ])
})
