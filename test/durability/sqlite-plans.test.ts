import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { sqliteDialect } from '../../src/storage/database/dialect.ts'
import { sql, type Query } from '../../src/storage/database/sql.ts'
import { recordsNamed } from '../../src/domainwatch/queries-records.ts'
import * as checks from '../../src/domainwatch/rechecks/queries.ts'
import type { Filters } from '../../src/domainwatch/filters.ts'
import {
  page,
  rowsOfNames,
  type PageRequest,
  type SortKey,
  type Source,
} from '../../src/domainwatch/list/queries.ts'
import * as queue from '../../src/domainwatch/queue/queries.ts'
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
  [{ revision: 1, reserved: 1 }, ALL, /domains_in_review/],
  [{ discarded: 1, status: 0 }, ALL, DISCARDED],
  [{ search: [{ text: 'casa' }, { text: 'sol' }] }, ALL, COVERED],
]

const BOUGHT: Source = { kind: 'all', status: 1 }
const FREED: Source = { kind: 'all', status: 0 }
const MANY: Partial<Filters> = { revision: 1, from: FROM, modified_from: FROM, status: 0 }

/** Pages of an export: each continues in the order of an index, and sorts nothing, whatever the filters. */
const WALKS: readonly (readonly [SortKey, Source, Partial<Filters>, RegExp])[] = [
  ['date_reg', ALL, { modified_from: FROM, deleted_to: FROM }, /USING INDEX domains_by_date/],
  ['date_reg', BOUGHT, { modified_from: FROM }, /USING INDEX domains_by_status/],
  ['deleted_at', FREED, MANY, /USING INDEX domains_by_deletion/],
  ['deleted_at', FREED, { deleted_from: FROM, seen: 0 }, /USING INDEX domains_by_deletion/],
  ['name', ALL, MANY, /^(SCAN|SEARCH) domains( USING PRIMARY KEY \(name<\?\))?$/],
  ['name', ALL, { search: [{ text: 'a' }], deleted_from: FROM }, /^(SCAN|SEARCH) domains/],
]

/** Orders without an index: one pass over the table that keeps the records of the page. */
const PASSES: readonly SortKey[] = ['date_mod', 'length']

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
    checks.matchingPage(sqliteDialect, { ...ANY, status: 1 }, 0, NAME, 10),
    /^CO-ROUTINE domains\nSEARCH domains USING PRIMARY KEY \(name>\?\)\nSCAN domains$/,
  ],
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

const VIEW = { filters: { ...ANY, status: 0 }, order: 'deleted', ascending: false } as const
const STATE = { filters: VIEW.filters, now: 1, accounts: [1, 2], after: 0, maxChanges: 9 }

/** All claims are read once for each call, and of domains only single names. */
const QUEUE_PLANS: readonly (readonly [Query, RegExp])[] = [
  [
    queue.queueState(sqliteDialect, STATE),
    /SCAN claims\n(.*\n)*.*SEARCH domains USING PRIMARY KEY \(name=\?\)\n(.*\n)*.*SEARCH claims USING INDEX claims_by_account/,
  ],
  [
    queue.matchingRows(sqliteDialect, [NAME], VIEW, 1),
    /SEARCH domains USING PRIMARY KEY \(name=\?\)\n(.*\n)*.*SEARCH claims USING PRIMARY KEY \(name=\?\)/,
  ],
  [queue.endClaims(sqliteDialect, 1, 1), /SEARCH claims USING INDEX claims_by_account \(account_id=\?\)/],
  [queue.heldBy(1, 1), /SEARCH claims USING INDEX claims_by_account \(account_id=\?\)/],
]

test('SQLite reads claims and their records by indexes', async () => {
  await using folder = await temporaryFolder()
  const database = await openSqlite(join(folder.path, 'claims.db'))
  try {
    for (const [query, wanted] of QUEUE_PLANS) {
      const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)
      const plan = steps.map(({ detail }) => detail).join('\n')
      assert.match(plan, wanted)
      assert.doesNotMatch(plan, /SCAN domains/)
    }
  } finally {
    await database.close()
  }
})

test('SQLite scans the shortest index that covers a list', async () => {
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
    const planOf = async (request: Partial<PageRequest>) => {
      const defaults = { sources: [ALL], sortKey: 'date_reg', ascending: false, limit: 100, now: 0 } as const
      const after = { key: '2025-06-01 00:00:00', name: 'm' }
      const query = page(database.dialect, { ...defaults, filters: ANY, after, ...request })
      const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)
      return steps.map(({ detail }) => detail).join('\n')
    }
    for (const [sortKey, source, filters, wanted] of WALKS) {
      const request = { sortKey, sources: [source], filters: { ...ANY, ...filters }, inOrder: true }
      const plan = await planOf(request)
      assert.match(plan, wanted, `${sortKey} ${JSON.stringify(filters)}`)
      assert.doesNotMatch(plan, /ORDER BY/, `${sortKey} ${JSON.stringify(filters)}`)
    }
    for (const sortKey of PASSES) {
      const plan = await planOf({ sortKey, after: { key: '05', name: 'm' } })
      assert.match(plan, /^SCAN domains\nUSE TEMP B-TREE FOR ORDER BY$/)
    }
    const names = rowsOfNames(database.dialect, { filters: { ...ANY, ...MANY }, now: 0 }, ['a', 'b'])
    const steps = await database.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${names}`)
    assert.match(steps.map(({ detail }) => detail).join('\n'), /SEARCH domains USING PRIMARY KEY \(name=\?\)/)
    const agent = { agent: 'sur', length: 9 }
    assert.match(await indexQuery(agent, ALL, 'near'), /SCAN domains USING INDEX domains_by_date\nSCAN near$/)
    assert.match(await indexQuery(agent, ALL, 'table'), /^SCAN domains\n/)
  } finally {
    await database.close()
  }
})
