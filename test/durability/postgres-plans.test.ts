import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import type { Query } from '../../src/storage/database/sql.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { postgresDialect } from '../../src/storage/database/dialect.ts'
import { recordsNamed } from '../../src/domainwatch/queries-records.ts'
import { endClaims } from '../../src/domainwatch/queue/queries.ts'
import { makeDatabase, POSTGRES_URL } from '../support/engine.ts'
import { runStatement } from '../support/postgres.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:postgres'
/** So many that visiting all of them costs more than the index. */
const ROWS = 60_000

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
    const names = Array.from({ length: 400 }, (_, i) => `n${5 * i}`)
    const rows = recordsNamed(postgresDialect, names, 1_000)
    assert.doesNotMatch(await plan(rows), MANY_DOMAINS, 'without statistics')
    await client.query('ANALYZE')
    assert.doesNotMatch(await plan(rows), MANY_DOMAINS, 'with statistics')
    const ended = await plan(endClaims(postgresDialect, 1, 1_000, names.slice(0, 4)))
    assert.doesNotMatch(ended, /Seq Scan on claims/)
  } finally {
    await client.end()
    await made.drop()
  }
})
