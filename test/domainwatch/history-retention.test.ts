import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sweepChanges } from '../../src/storage/database/changes/change-log.ts'
import { sweepHistory } from '../../src/domainwatch/index.ts'
import { storeObservations } from '../../src/domainwatch/history/observations.ts'
import { names, record, stored, update, updateNames } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { ManualClock, startService } from '../support/service.ts'

const DAY_MS = 86_400_000
const clock = new ManualClock('2026-01-15T12:00:00Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const { database } = service.app.context

async function history(domain: string) {
  const query = { api: service.domainKey, domain }
  const { body } = await call(service, '/api/v1/domainwatch/history', { query })
  // Asserted by who asks for it.
  const { data, dns } = body as { data: { kind: string }[]; dns: { dns: string[]; first: string }[] }
  return { kinds: data.map(({ kind }) => kind), servers: dns.flatMap(({ dns: servers }) => servers) }
}

const see = (name: string, at: number, server: string) =>
  database.transaction((tx) => {
    const seen = new Map([[name, { first: at, last: at, servers: JSON.stringify([server]) }]])
    return storeObservations(tx, database.dialect, 'ns', seen)
  })

test('recorded names keep their whole history, deleted ones for a limited time', async () => {
  await stored(service, [record('vivo'), record('vuelto'), record('muerto')])
  await see('vivo', clock.now(), 'ns.vivo.cl')
  await see('vuelto', clock.now(), 'ns.antes.cl')
  await see('muerto', clock.now(), 'ns.muerto.cl')
  await update(service, [{ domain: 'vivo', revision: 1 }])
  await updateNames(service, ['vuelto', 'muerto'], { discarded: 1 })
  clock.advance(7 * DAY_MS)
  await stored(service, [record('vuelto')])
  // Changes are dated by the database's clock, which the test cannot move.
  await see('vuelto', Date.now() + 1_000, 'ns.ahora.cl')
  await stored(service, [record('último')])

  const later = new ManualClock(new Date(Date.now() + 100 * DAY_MS).toISOString())
  const sweep = (days: number) => sweepHistory(database, later, days * DAY_MS, new AbortController().signal)
  const lives = ['deleted', 'discarded', 'added']
  // Followers may still need the changes.
  assert.equal(await sweep(99), 0)
  await sweepChanges(database, later, { maxAgeMs: 99 * DAY_MS, maxCount: 1_000_000 })
  assert.deepEqual(await history('muerto'), { kinds: lives, servers: ['ns.muerto.cl'] })
  assert.equal(await sweep(101), 0)

  assert.equal(await sweep(99), 2)
  assert.deepEqual(await history('muerto'), { kinds: [], servers: [] })
  assert.deepEqual(await history('vuelto'), { kinds: ['added'], servers: ['ns.ahora.cl'] })
  assert.deepEqual(await history('vivo'), { kinds: ['changed', 'added'], servers: ['ns.vivo.cl'] })
  assert.equal(await sweep(99), 0)

  // What names were seen with goes with their history.
  await stored(service, [record('muerto')])
  const servers = ['ns.vivo.cl', 'ns.ahora.cl', 'ns.muerto.cl']
  const found = await Promise.all(servers.map((ns) => names(service, { ns })))
  assert.deepEqual(found, [['vivo'], ['vuelto'], []])
})

test('a name keeps its newest hundred entries', async () => {
  await stored(service, [record('inquieto')])
  for (let i = 0; i < 103; i++) await see('inquieto', clock.now() + i * 1_000, `ns${i}.uno.cl`)
  const { servers } = await history('inquieto')
  assert.deepEqual(
    servers,
    Array.from({ length: 100 }, (_, i) => `ns${102 - i}.uno.cl`),
  )
})

test('an answer that arrives after a later one changes nothing', async () => {
  await stored(service, [record('tardío')])
  await see('tardío', clock.now() + 1_000, 'ns.ahora.cl')
  await see('tardío', clock.now(), 'ns.antes.cl')
  assert.deepEqual((await history('tardío')).servers, ['ns.ahora.cl'])
  await see('tardío', clock.now() + 1_000, 'ns.igual.cl')
  assert.deepEqual((await history('tardío')).servers, ['ns.igual.cl', 'ns.ahora.cl'])
})

test('nodes that observe the same at the same time store it once', async () => {
  await stored(service, [record('juntos')])
  const at = clock.now()
  await Promise.all(Array.from({ length: 5 }, (_, i) => see('juntos', at + i, 'ns.uno.cl')))
  assert.deepEqual((await history('juntos')).servers, ['ns.uno.cl'])
})
