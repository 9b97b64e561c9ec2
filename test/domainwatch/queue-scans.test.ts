import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sweepHistory } from '../../src/domainwatch/index.ts'
import { sweepChanges } from '../../src/storage/database/changes/retention.ts'
import { record, stored } from '../support/domains.ts'
import { claim, recordStatements } from '../support/queue.ts'
import { ManualClock, startService } from '../support/service.ts'

/** More changes than a claim applies one by one. */
const MANY = 1_100

test('without an index, counting and searching leave the writer of SQLite to others', async (context) => {
  await using service = await startService({ flags: { 'search-memory': '0' } })
  const { database } = service.app.context
  if (!database.dialect.plansAsWritten) return context.skip('PostgreSQL has several writers')
  const data = Array.from({ length: MANY }, (_, i) => record(`n${i}`, { status: 0 }))
  await stored(service, data, { encoding: 'json' })
  const statements = recordStatements(database)
  const isSearch = (text: string) =>
    /count\(\*\) AS count FROM domains|NOT EXISTS \(SELECT 1 FROM claims/.test(text)
  const claimed = async (limit: number, fields = {}) => {
    const { names: found, remaining } = await claim(service, service.domainKey, { limit, ...fields })
    assert.deepEqual([...statements].filter(isSearch), [])
    return [found, remaining]
  }
  const sorted = data
    .map(({ domain }) => domain)
    .toSorted()
    .toReversed()
  assert.deepEqual(await claimed(2), [sorted.slice(0, 2), MANY])
  await service.sql(`UPDATE domains SET agent = 'otro'`)
  assert.deepEqual(await claimed(100), [sorted.slice(0, 100), MANY])
  await service.sql(`DELETE FROM domains WHERE name = '${sorted[0]}'`)
  assert.deepEqual(await claimed(100), [sorted.slice(1, 101), MANY - 1])
  assert.deepEqual(await claimed(3, { search: 'n1', order: 'length', sort: 'asc' }), [
    ['n1', 'n10', 'n11'],
    211,
  ])
})

for (const memory of ['0', '64']) {
  test(`remaining is exact after the changes since the last count were removed, with --search-memory ${memory}`, async () => {
    await using service = await startService({ flags: { 'search-memory': memory } })
    const { database } = service.app.context
    await stored(
      service,
      ['a', 'b', 'c'].map((name) => record(name, { status: 0 })),
    )
    const remaining = async () => (await claim(service, service.domainKey, { limit: 1 })).remaining
    assert.equal(await remaining(), 3)
    await service.sql(`DELETE FROM domains WHERE name = 'b'`)
    await stored(service, [record('d')])
    const later = new ManualClock(new Date(Date.now() + 1_000_000).toISOString())
    await sweepChanges(database, later, { maxAgeMs: 0, maxCount: 1_000 })
    await sweepHistory(database, later, 0, new AbortController().signal)
    assert.equal(await remaining(), 3)
  })
}
