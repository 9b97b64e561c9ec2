import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OverloadError } from '../../lib/errors.ts'
import { sqliteDialect } from '../../storage/database/dialect.ts'
import type { Reader } from '../../storage/database/database.ts'
import { countInDatabase } from './statistics.ts'

test('a count that takes too long is aborted', async (t) => {
  let now = 0
  t.mock.method(performance, 'now', () => (now += 1_000))
  let pages = 0
  // Every page is full, so there is always another one.
  const scanner: Reader = {
    all: async () => [],
    first: async () => undefined,
    values: async () => [[7, 'grupo', 50_000, 50_000, 0, 0, 0, 50_000, `n${pages++}`]],
  }
  const filters = { reserve: false, rev: false, dis: false }
  const span = { from: '2026-01-01 00:00:00', to: '2026-01-31 23:59:59' }
  await assert.rejects(
    countInDatabase({ dialect: sqliteDialect, scanner }, { filters, span }, 0),
    OverloadError,
  )
  assert.ok(pages > 10)
})
