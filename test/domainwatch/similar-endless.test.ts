import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as breathe } from 'node:timers/promises'
import { OverloadError } from '../../src/lib/errors.ts'
import { createTasks } from '../../src/lib/tasks.ts'
import { databaseNames } from '../../src/domainwatch/lookalikes/database-names.ts'
import { LookalikeSearch } from '../../src/domainwatch/lookalikes/lookalikes.ts'
import { Vocabulary } from '../../src/domainwatch/lookalikes/vocabulary.ts'
import { many, openBoth } from '../support/lists-both-ways.ts'

const tasks = createTasks(1)
after(() => tasks.close())

test('an account that looks for many names delays another for one of them', async () => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  await opened.store(many(100))
  const names = () => databaseNames(database, clock)
  const search = new LookalikeSearch(database, clock, names, new Vocabulary())
  const finished: number[] = []
  const find = async (name: string, account: number) => {
    await search.find(name, 10, account)
    finished.push(account)
  }
  await Promise.all([...Array.from({ length: 12 }, (_, i) => find(`casa${i}`, 1)), find('casa', 2)])
  // Ranked second; some that were ranked later may be read sooner.
  assert.ok(finished.indexOf(2) <= 6, finished.join(' '))
  const flood = await Promise.allSettled(Array.from({ length: 40 }, (_, i) => find(`torre${i}`, 1)))
  assert.ok(flood.some((one) => one.status === 'rejected' && one.reason instanceof OverloadError))
})

test('lookalikes that do not come to their end in time are given up', async () => {
  await using opened = await openBoth(tasks)
  const { database, clock } = opened
  await opened.store(many(100))
  async function* endless() {
    for (;;) {
      yield* databaseNames(database, clock)
      await breathe()
    }
  }
  await assert.rejects(
    new LookalikeSearch(database, clock, endless, new Vocabulary(), 50).find('casa', 10),
    OverloadError,
  )
})
