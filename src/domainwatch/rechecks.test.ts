import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../../test/support/eventually.ts'
import { systemClock } from '../lib/clock.ts'
import { openSqlite } from '../storage/database/sqlite/open.ts'
import { sql, type Query } from '../storage/database/sql.ts'
import { readVocabulary, readDictionary } from './words.ts'
import { Rules } from './rules/index.ts'
import { NameIndex } from './list/name-index.ts'
import { createTasks } from '../lib/tasks.ts'
import { Rechecks } from './rechecks.ts'
import assert from 'node:assert/strict'

test('names in review are looked up, however long the watches take to be read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-rechecks-'))
  const opened = await openSqlite(join(folder, 'catalejo.db'))
  await opened.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO domains (name, length, agent, agent_folded, status, reserved, revision, date_reg, date_mod)
      VALUES ('pendiente', 9, 'a', 'a', 1, 0, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00')`)
  })
  const reading = Promise.withResolvers<void>()
  const database = {
    ...opened,
    all: async <Row>(query: Query<Row>) => {
      if (query.sql.includes('FROM watches')) await reading.promise
      return opened.all(query)
    },
  }
  const tasks = createTasks(1)
  const dictionary = readDictionary([])
  const rules = new Rules(opened, dictionary.split)
  const nameIndex = new NameIndex({
    database: opened,
    tasks,
    dictionary,
    rules,
    timeZone: 'UTC',
    report: assert.fail,
  })
  const asked: string[] = []
  const fail = (error: unknown) => assert.fail(String(error))
  const rechecks = new Rechecks({
    database,
    nameIndex,
    clock: systemClock,
    dns: {
      nameServers: async (name) => (asked.push(name), { kind: 'failed' }),
      records: async () => ({ kind: 'failed' }),
    },
    vocabulary: readVocabulary([]),
    intervalMs: 24 * 60 * 60 * 1000,
    lookupsPerMinute: 6_000,
    tags: [],
    failed: fail,
  })
  const stop = new AbortController()
  const running = rechecks.run(stop.signal)
  // Long enough for several reads of what is due.
  await new Promise((resolve) => setTimeout(resolve, 200))
  reading.resolve()
  await eventually(() => asked.includes('pendiente.cl'), 'the name is looked up')
  stop.abort()
  await running
  nameIndex.close()
  await tasks.close()
  await opened.close()
  await rm(folder, { recursive: true })
})
