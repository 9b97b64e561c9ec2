import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { sqliteDialect } from '../../src/storage/database/sqlite/dialect.ts'
import { sql, type Query } from '../../src/storage/database/sql.ts'
import * as checks from '../../src/domainwatch/rechecks/queries.ts'
import type { Filters } from '../../src/domainwatch/filters.ts'
import { page, type Source } from '../../src/domainwatch/queries.ts'
import { temporaryFolder } from '../support/folder.ts'

const ANY: Filters = { reserve: false, rev: false, dis: false }
const ALL: Source = { kind: 'all' }
const FROM = '2025-01-01 00:00:00'
const COVERED = /SCAN domains USING COVERING INDEX domains_by_date/
const DISCARDED = /domains_(discarded|expiring)/

/** Ways that do not become minutes where each record is on a page of its own. */
const PLANS: readonly (readonly [Partial<Filters>, Source, RegExp])[] = [
  [{ search: [{ text: 'casa' }] }, ALL, COVERED],
  [{ length: 63 }, ALL, COVERED],
  [{ min_length: 60 }, ALL, COVERED],
  [{ max_length: 1, hyphen: 1 }, ALL, COVERED],
  [{ digits: 0, idn: 1 }, ALL, COVERED],
  [{ length: 63, from: FROM }, ALL, /SEARCH domains USING COVERING INDEX domains_by_date \(date_reg>/],
  [{ length: 63 }, { kind: 'registered', newest: 3 }, /COVERING INDEX domains_by_status \(status=/],
  [{ search: [{ text: 'a' }], to: FROM }, ALL, /COVERING INDEX domains_by_date \(date_reg</],
  [{ dis: true, rev: true, reserve: true, status: 0 }, ALL, DISCARDED],
  [{ rev: true, reserve: true, status: 1 }, ALL, /domains_in_review/],
  [{ reserve: true, status: 1, search: [{ text: 'a' }] }, ALL, /domains_reserved/],
  [{ dis: true }, { kind: 'deleted', newest: 3 }, DISCARDED],
  [{ rev: true }, { kind: 'registered', newest: 3 }, /domains_in_review/],
]

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
  [checks.disownChecks(1, 10), /SEARCH dns_checks USING COVERING INDEX dns_checks_by_due \(account_id=/],
  [
    checks.reviewPage({ name: NAME, date_reg: FROM }, 10),
    /SEARCH domains USING COVERING INDEX domains_in_review \(\(date_reg,name\)>/,
  ],
  [checks.taggedPage(NAME, 10), /SEARCH domains USING INDEX domains_tagged \(name>/],
  [
    checks.matchingPage(sqliteDialect, { ...ANY, status: 1 }, 0, NAME, 10),
    /^SEARCH domains USING PRIMARY KEY \(name>\?\)$/,
  ],
  [checks.recordsNamed(sqliteDialect, [NAME]), /SEARCH domains USING PRIMARY KEY \(name=/],
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

test('SQLite goes through the shortest index that tells what a list asks', async () => {
  await using folder = await temporaryFolder()
  const database = await openSqlite(join(folder.path, 'plans.db'))
  try {
    const indexQuery = async (some: Partial<Filters>, source: Source, visit?: 'near' | 'table') => {
      const request = {
        sources: [source],
        sortKey: 'date_reg',
        ascending: false,
        limit: 100,
        now: 0,
      } as const
      const query = page(database.dialect, { ...request, filters: { ...ANY, ...some } }, visit)
      const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)
      return steps.map(({ detail }) => detail).join('\n')
    }
    for (const [filters, source, wanted] of PLANS)
      assert.match(await indexQuery(filters, source), wanted, JSON.stringify(filters))
    const agent = { agent: 'sur', length: 9 }
    assert.match(await indexQuery(agent, ALL, 'near'), /SCAN domains USING INDEX domains_by_date\nSCAN near$/)
    assert.match(await indexQuery(agent, ALL, 'table'), /^SCAN domains\n/)
  } finally {
    await database.close()
  }
})
