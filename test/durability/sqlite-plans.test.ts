import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { sqliteDialect } from '../../src/storage/database/dialect.ts'
import { sql, type Query } from '../../src/storage/database/sql.ts'
import { recordsNamed } from '../../src/domainwatch/queries-records.ts'
import * as checks from '../../src/domainwatch/rechecks/queries.ts'
import * as queue from '../../src/domainwatch/queue/queries.ts'
import { temporaryFolder } from '../support/folder.ts'

const NAME = 'casa'

/** Regular look-ups read ranges of indexes. */
const CHECK_PLANS: readonly (readonly [Query, RegExp])[] = [
  [
    checks.dueChecks(1, 0, 10),
    /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id=\? AND due_at</,
  ],
  [checks.countChecks(1, 0, 10), /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id=/],
  [
    checks.lateChecks(1, 0, 10),
    /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id=\? AND due_at>/,
  ],
  [checks.nextOwner(1), /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id>/],
  [checks.releaseChecks(1, 10), /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id=/],
  [recordsNamed(sqliteDialect, [NAME], 0), /SEARCH domains USING PRIMARY KEY \(name=/],
]

test('SQLite finds the names to look up again by indexes', async () => {
  await using folder = await temporaryFolder()
  const database = await openSqlite(join(folder.path, 'checks.db'))
  try {
    for (const [query, wanted] of CHECK_PLANS) {
      const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)
      assert.match(steps.map(({ detail }) => detail).join('\n'), wanted, query.text)
    }
  } finally {
    await database.close()
  }
})

/** Of claims only those of an account are read. */
const QUEUE_PLANS: readonly (readonly [Query, RegExp])[] = [
  [queue.endClaims(sqliteDialect, 1, 1), /SEARCH claims USING INDEX claims_by_account \(account_id=\?\)/],
  [queue.heldBy(1, 1), /SEARCH claims USING INDEX claims_by_account \(account_id=\?\)/],
]

test('SQLite reads claims and their records by indexes', async () => {
  await using folder = await temporaryFolder()
  const database = await openSqlite(join(folder.path, 'claims.db'))
  try {
    for (const [query, wanted] of QUEUE_PLANS) {
      const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)
      assert.match(steps.map(({ detail }) => detail).join('\n'), wanted)
    }
  } finally {
    await database.close()
  }
})
