import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate as breathe } from 'node:timers/promises'
import { Overload } from '../../src/core/errors.ts'
import { createTasks } from '../../src/core/tasks.ts'
import { databaseNames } from '../../src/domainwatch/similar/database-names.ts'
import { LookalikeSearch } from '../../src/domainwatch/similar/lookalikes.ts'
import { Vocabulary } from '../../src/domainwatch/similar/vocabulary.ts'
import { many, openBoth } from '../support/lists-both-ways.ts'

const tasks = createTasks(1)
after(() => tasks.close())

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
    Overload,
  )
})
