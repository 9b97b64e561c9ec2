import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import type { Query } from '../../src/storage/database/sql.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { postgresDialect } from '../../src/storage/database/dialect.ts'
import { page } from '../../src/domainwatch/list/queries.ts'
import { endClaims, matchingRows, queueState } from '../../src/domainwatch/queue/queries.ts'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { runStatement } from '../support/postgres.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:postgres'
/** So many that visiting all of them costs more than the index. */
const ROWS = 60_000

test(
  'a parameterized search uses the trigram index if its pattern is rare',
  { skip: NO_SERVER },
  async () => {
    const made = await makeDatabase(POSTGRES_URL ?? '', `plans_${randomBytes(6).toString('hex')}`)
    await (await openPostgres(made.url)).close()
    const client = new pg.Client({ connectionString: made.url })
    await client.connect()
    try {
      await runStatement(
        made.url,
        `INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
       SELECT substr(md5(i::text), 1, 14), 14, 'a', 'a', 1, 0, (1e12 + i * 7919 % 1000003)::text, '' FROM generate_series(1, ${ROWS}) AS i;
       ANALYZE domains`,
      )
      const plan = async (text: string, limit: number) => {
        const filters = { search: [{ text }], reserve: false, rev: false, dis: false }
        const query = page(postgresDialect, {
          sources: [{ kind: 'all' }],
          filters,
          sortKey: 'date_reg',
          ascending: false,
          limit,
          now: 0,
        })
        const { rows } = await client.query<string[]>({
          text: `EXPLAIN ${query.text}`,
          values: [...query.values],
          rowMode: 'array',
        })
        return rows.flat().join('\n')
      }
      // Names that the planner has in its sample: each looks like many.
      const sampled = await runStatement(
        made.url,
        `SELECT substr(name, 3, 8) AS part FROM (
         SELECT unnest(histogram_bounds::text::text[]) AS name FROM pg_stats
         WHERE tablename = 'domains' AND attname = 'name'
       ) AS bounds LIMIT 5`,
      )
      assert.equal(sampled.length, 5)
      for (const part of ['zzzz', ...sampled.map((row) => String(row['part']))]) {
        for (const limit of [11, 1_025]) assert.match(await plan(part, limit), /domains_name_trigrams/, part)
      }
      assert.match(await plan('a', 11), /domains_by_date/)
    } finally {
      await client.end()
      await made.drop()
    }
  },
)

/** A hundred members with thirty records each, of a fifth of all. */
const CLAIMS = 3_000
/** Any read of domains that is not of single names, or of those that expire. */
const MANY_DOMAINS = /Seq Scan on domains|domains_by_/

test('a claim reads single names, not all records', { skip: NO_SERVER }, async () => {
  const made = await makeDatabase(POSTGRES_URL ?? '', `plans_${randomBytes(6).toString('hex')}`)
  await (await openPostgres(made.url)).close()
  const client = new pg.Client({ connectionString: made.url })
  await client.connect()
  try {
    await runStatement(
      made.url,
      `INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
       SELECT 'n' || i, 9, 'a', 'a', CASE i % 5 WHEN 0 THEN 0 ELSE 1 END, 0, (1e12 + i)::text, '' FROM generate_series(1, ${ROWS}) AS i;
       INSERT INTO claims (name, account_id, until)
       SELECT 'n' || 5 * i, i % 100, 2000 FROM generate_series(1, ${CLAIMS}) AS i`,
    )
    const plan = async ({ text, values }: Query) => {
      const { rows } = await client.query<string[]>({
        text: `EXPLAIN ${text}`,
        values: [...values],
        rowMode: 'array',
      })
      return rows.flat().join('\n')
    }
    const filters = {
      status: 0,
      seen: 0,
      revision: 0,
      discarded: 0,
      reserve: false,
      rev: false,
      dis: false,
    } as const
    const names = Array.from({ length: 400 }, (_, i) => `n${5 * i}`)
    const view = { filters, order: 'deleted', ascending: false } as const
    const request = { filters, now: 1_000, accounts: [1, 2, 3], after: 0, maxChanges: 1_000 }
    const state = queueState(postgresDialect, request)
    assert.doesNotMatch(await plan(state), MANY_DOMAINS, 'without statistics')
    await client.query('ANALYZE')
    for (const query of [state, matchingRows(postgresDialect, names, view, 1_000)])
      assert.doesNotMatch(await plan(query), MANY_DOMAINS, 'with statistics')
    const ended = await plan(endClaims(postgresDialect, 1, 1_000, names.slice(0, 4)))
    assert.doesNotMatch(ended, /Seq Scan on claims/)
  } finally {
    await client.end()
    await made.drop()
  }
})
