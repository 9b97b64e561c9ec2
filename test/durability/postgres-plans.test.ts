import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { postgresDialect } from '../../src/storage/database/postgres/dialect.ts'
import { page } from '../../src/domainwatch/queries.ts'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { administer } from '../support/postgres.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:postgres'
/** So many that visiting all of them costs more than the index. */
const ROWS = 60_000

test(
  'search by parameters goes by the trigram index where a pattern is rare',
  { skip: NO_SERVER },
  async () => {
    const made = await makeDatabase(POSTGRES_URL ?? '', `plans_${randomBytes(6).toString('hex')}`)
    await (await openPostgres(made.url)).close()
    const client = new pg.Client({ connectionString: made.url })
    await client.connect()
    try {
      await administer(
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
      const sampled = await administer(
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
