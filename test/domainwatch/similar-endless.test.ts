import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as breathe } from 'node:timers/promises'
import { OverloadError } from '../../src/lib/errors.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { LookalikeSearch, recordedNames } from '../../src/domainwatch/lookalikes/search.ts'
import { readVocabulary } from '../../src/domainwatch/lookalikes/vocabulary.ts'
import { many, openLists } from '../support/open-lists.ts'

const tasks = createTasks(1)
after(() => tasks.close())

test('an account with many searches delays another by few of them', { timeout: 300_000 }, async () => {
  await using opened = await openLists(tasks)
  const { database, clock, nameIndex } = opened
  await opened.store(many(100))
  const second = Promise.withResolvers<void>()
  let sweeps = 0
  async function* names() {
    // With turns by account the second one needs no more than these; without them the test would wait forever.
    if (++sweeps > 6) await second.promise
    // By then the second account is waiting for its turn.
    await breathe()
    yield* recordedNames(clock, nameIndex)
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
