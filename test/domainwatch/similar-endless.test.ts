import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as breathe } from 'node:timers/promises'
import { OverloadError } from '../../src/lib/errors.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { databaseNames, LookalikeSearch } from '../../src/domainwatch/lookalikes/search.ts'
import { readVocabulary } from '../../src/domainwatch/lookalikes/vocabulary.ts'
import { many, openBoth } from '../support/lists-both-ways.ts'

const tasks = createTasks(1)
after(() => tasks.close())

test('an account with many searches delays another by few of them', { timeout: 300_000 }, async () => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  await opened.store(many(100))
  const second = Promise.withResolvers<void>()
  let sweeps = 0
  async function* names() {
    // With turns by account the second one needs no more than these; without them the test would wait forever.
    if (++sweeps > 6) await second.promise
    for await (const block of databaseNames(database.scanner, clock)) yield block
    // Several queries: by then the second account has asked for the version, and is waiting for its turn.
    for (let i = 0; i < 5; i++) for await (const _ of databaseNames(database.scanner, clock));
  }
  const search = new LookalikeSearch(database, clock, names, readVocabulary())
  const flooding = Array.from({ length: 12 }, (_, i) => search.find(`casa${i}`, 10, 1))
  await search.find('casa', 10, 2)
  second.resolve()
  await Promise.all(flooding)
  assert.equal(sweeps, 13)
  const flood = await Promise.allSettled(
    Array.from({ length: 80 }, (_, i) => search.find(`torre${i}`, 10, 1)),
  )
  assert.ok(flood.some((one) => one.status === 'rejected' && one.reason instanceof OverloadError))
})

test('a lookalike search that takes too long is aborted', async () => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  await opened.store(many(100))
  async function* endless() {
    for (;;) {
      yield* databaseNames(database.scanner, clock)
      await breathe()
    }
  }
  await assert.rejects(
    new LookalikeSearch(database, clock, endless, readVocabulary(), 50).find('casa', 10),
    OverloadError,
  )
})
