import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ns, RCODE, soa, startScriptedDns, type Answer } from '../dns/scripted.ts'
import { names as listed, record, stored, storedNames, update, updateNames } from '../support/domains.ts'
import { EventReader } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { ManualClock, onTwoNodes, startService, type TestService } from '../support/service.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { removeWatch, watch } from '../support/watches.ts'

const DAY_MS = 86_400_000

const ADDRESSES: Readonly<Record<string, string>> = { A: '192.0.2.7', AAAA: '2001:db8::7' }
/** Name servers by name; other names do not exist, and `enfermo` cannot be resolved. */
const zone = new Map<string, string>()
const dns = await startScriptedDns(({ name, question }): Answer => {
  if (name === 'enfermo.cl') return { rcode: RCODE.SERVFAIL }
  const host = zone.get(name)
  if (host === undefined) return { rcode: RCODE.NXDOMAIN, authorities: [soa('cl', 0, 0)] }
  if (question.type === 'NS') return { answers: [ns(name, host, 0)] }
  const data = ADDRESSES[question.type]
  if (data === undefined) return { authorities: [soa('cl', 0, 0)] }
  return { answers: [{ name, type: question.type, class: 'IN', ttl: 0, data }] }
})
const flags = { 'dns-servers': dns.address, 'recheck-tags': 'vigilar' }
/** A hundred times as fast as the service spares its resolver. */
const limits = { rechecksPerMinute: 60_000 }
const clock = new ManualClock('2026-03-01T12:00:00Z')
const service = await startService({ clock, flags, limits })
after(async () => {
  await service[Symbol.asyncDispose]()
  await dns.stop()
})

const typesAsked = (name: string) =>
  dns.queries.filter((query) => query.name === name).map(({ question }) => question.type)
const timesAsked = (name: string) => typesAsked(name).filter((type) => type === 'NS').length

const until = (isSo: () => boolean | Promise<boolean>, what: () => unknown) =>
  eventually(isSo, () => JSON.stringify(what()))

/** Waits until each name was queried this many times. */
const asked = (names: readonly string[], times: number) =>
  until(
    () => names.every((name) => timesAsked(name) >= times),
    () => names.map((name) => [name, timesAsked(name)]),
  )

/** Waits until the service knows that it has to look a name up, which shows once its time has come. */
async function nextDay(names: readonly string[]) {
  const before = new Map(names.map((name) => [name, timesAsked(name)]))
  await until(
    () => {
      clock.advance(DAY_MS)
      return names.every((name) => timesAsked(name) > (before.get(name) ?? 0))
    },
    () => names.filter((name) => timesAsked(name) === before.get(name)),
  )
}

/** Waits until two days pass in which nobody asks for a name: what is being looked up meanwhile ends. */
async function forgotten(host: string): Promise<void> {
  let before: number
  do {
    before = timesAsked(host)
    await nextDay(['estable.cl'])
    await nextDay(['estable.cl'])
  } while (timesAsked(host) !== before)
}

async function nameServers(of: TestService, domain: string): Promise<string[]> {
  const query = { api: of.domainKey, domain }
  const { body } = await call(of, '/api/v1/domainwatch/history', { query })
  return Object(body).dns.map(({ dns: hosts }: { dns: string[] }) => hosts.join())
}

async function metric(name: string, of = service): Promise<number> {
  const { text } = await call(of, '/metrics')
  return Number(new RegExp(`^catalejo_dns_rechecks_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

test('only names in review are looked up again, and history and events show changes', async () => {
  const names = ['revisado', 'estable', 'enfermo', 'ñandú']
  await storedNames(service, [...names, 'otro'])
  await updateNames(service, names, { revision: 1 })
  for (const name of ['revisado', 'estable', 'otro']) zone.set(`${name}.cl`, 'ns1.cl')
  const ascii = ['revisado.cl', 'estable.cl', 'enfermo.cl', 'xn--and-6ma2c.cl']
  await nextDay(ascii)
  await until(
    async () => (await nameServers(service, 'revisado')).length === 1,
    () => typesAsked('revisado.cl'),
  )
  assert.deepEqual(new Set(typesAsked('revisado.cl')), new Set(['NS', 'MX', 'A', 'AAAA']))
  for (const ip of Object.values(ADDRESSES))
    assert.deepEqual(await listed(service, { ip, order: 'name', sort: 'asc' }), ['estable', 'revisado'])

  await using reader = await EventReader.open(service, { api: service.domainKey, changes: 'dns' })
  zone.set('revisado.cl', 'ns2.cl')
  await nextDay(ascii)
  const [event] = await reader.take(1)
  const { record: shown, dns: news } = Object(event?.data)
  assert.deepEqual([shown.name, news], ['revisado', { type: 'ns', from: ['ns1.cl'], to: ['ns2.cl'] }])
  assert.deepEqual(await nameServers(service, 'revisado'), ['ns2.cl', 'ns1.cl'])
  assert.deepEqual(await nameServers(service, 'estable'), ['ns1.cl'])
  assert.deepEqual(await nameServers(service, 'ñandú'), [''])
  assert.deepEqual(typesAsked('otro.cl'), [])
  // Each node counts its own.
  if (onTwoNodes === false) {
    await until(
      async () => (await metric('failed_total')) >= 2,
      () => 'no failures are counted',
    )
    assert.ok((await metric('total')) >= 8)
  }

  // Out of review, nobody asks for it any more.
  await update(service, [{ domain: 'revisado', revision: 0 }])
  await forgotten('revisado.cl')
})

test('names that match a watch with dns=1 are looked up from its creation until its deletion', async () => {
  await stored(service, [record('vigilado-a'), record('vigilado-b', { status: 0 }), record('suelto')])
  const { id } = await watch(service, { starts: 'vigilado', status: '1', dns: '1', atom: '' })
  const other = await watch(service, { starts: 'suelto', atom: '' })
  await nextDay(['vigilado-a.cl'])
  await stored(service, [record('vigilado-nuevo')])
  await nextDay(['vigilado-a.cl', 'vigilado-nuevo.cl'])
  assert.deepEqual([timesAsked('vigilado-b.cl'), timesAsked('suelto.cl')], [0, 0])

  await removeWatch(service, id)
  await removeWatch(service, other.id)
  await forgotten('vigilado-a.cl')
})

test('names of changes that were deleted unread are looked up as well', async () => {
  await service.app.context.database.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO domains (name, length, agent, agent_folded, status, reserved, revision, date_reg, date_mod)
      VALUES ('perdido', 7, 'grupo', 'grupo', 1, 0, 1, '2026-03-01 12:00:00', '2026-03-01 12:00:00')`)
    await tx.run(sql`UPDATE change_log SET epoch = 'abcdefabcdef'`)
  })
  await nextDay(['perdido.cl'])
  // Changes are followed again.
  await stored(service, [record('siguiente')])
  await update(service, [{ domain: 'siguiente', revision: 1 }])
  await nextDay(['siguiente.cl'])
})

test('each name is looked up immediately, and then at its own time of day, also after a restart', async (t) => {
  const names = Array.from({ length: 30 }, (_, i) => `repartido${i}`)
  const hosts = names.map((name) => `${name}.cl`)
  const own = new ManualClock('2026-03-01T12:00:00Z')
  const first = await startService({ clock: own, flags, limits })
  t.after(() => first[Symbol.asyncDispose]())
  await storedNames(first, names)
  await updateNames(first, names, { revision: 1 })
  await asked(hosts, 1)
  /** Waits until all look-ups of the present time are in the history. */
  const observed = (service: TestService, count: number) =>
    until(
      async () => {
        const rows = await service.app.context.database.values(
          sql`SELECT name FROM name_servers WHERE last_at = ${own.now()}`,
        )
        return rows.length >= count
      },
      () => hosts.map(timesAsked),
    )
  await observed(first, hosts.length)
  own.advance(DAY_MS / 2)
  await until(
    () => hosts.filter((name) => timesAsked(name) > 1).length > 5,
    () => hosts.map(timesAsked),
  )
  await until(
    async () => (await metric('overdue', first)) === 0,
    () => hosts.map(timesAsked),
  )
  const early = hosts.filter((name) => timesAsked(name) > 1)
  assert.ok(early.length < 25, `${early.length} of 30 in half a day`)
  await observed(first, early.length)
  await first.stop()

  const start = dns.queries.length
  const second = await startService({ clock: own, flags, limits, data: first.data })
  t.after(() => second.stop())
  own.advance(DAY_MS / 2)
  await asked(hosts, 2)
  const again = dns.queries.slice(start).filter(({ name }) => early.includes(name))
  assert.deepEqual(again, [], 'those of the first half are not due before the next day')
})

test('with rechecks disabled nothing is looked up', async () => {
  const own = new ManualClock('2026-03-01T12:00:00Z')
  await using off = await startService({ clock: own, flags: { ...flags, 'recheck-every': '0' } })
  await stored(off, [record('apagado')])
  await update(off, [{ domain: 'apagado', revision: 1 }])
  own.advance(2 * DAY_MS)
  await nextDay(['estable.cl'])
  assert.equal(timesAsked('apagado.cl'), 0)
})
