import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { defineBatch, sqliteBatch } from '../batch.ts'
import { Connection, migrate } from './connection.ts'

const DOMAINS = defineBatch({
  table: 'domains',
  key: 'name',
  constants: { date_mod: 'text' },
  elements: { name: 'text', length: 'integer', agent: 'text', status: 'integer' },
  insert: (at) => ({
    name: at.name,
    length: at.length,
    agent: `COALESCE(${at.agent}, 'grupo')`,
    agent_folded: `'grupo'`,
    status: at.status,
    reserved: '0',
    date_reg: `'2025-01-01 00:00:00'`,
    date_mod: at.date_mod,
  }),
  update: (at) => ({ status: 'excluded.status', agent: `COALESCE(${at.agent}, domains.agent)` }),
  when: (at) => `domains.status <> excluded.status OR ${at.agent} IS NOT NULL`,
})
const TEXTS = sqliteBatch(DOMAINS)
const MOMENT = ['2025-12-31 12:00:00']
const LOG = `SELECT topic, kind, key, account_id, before, after FROM changes ORDER BY key, id`
const RECORDS = 'SELECT *, typeof(length), typeof(status) FROM domains ORDER BY name'

/** Names of which many begin alike, in no order. */
const rowsOf = (count: number, step: number, status: number) =>
  Array.from({ length: count }, (_, i) => {
    const name = `nombre-${(i * 7_919 * step) % 30_011}`
    return [name, name.length, i % 3 === 0 ? `agente ${i}` : null, i % 5 === 0 ? 1 - status : status] as const
  })

async function opened(t: TestContext): Promise<Connection> {
  const folder = await mkdtemp(join(tmpdir(), 'run-many-'))
  const connection = new Connection(join(folder, 'x.db'), 'write')
  migrate(connection)
  t.after(async () => {
    connection.close()
    await rm(folder, { recursive: true })
  })
  return connection
}

function transaction(connection: Connection, work: () => void): void {
  connection.exec('BEGIN IMMEDIATE; UPDATE change_log SET author = 7')
  work()
  connection.exec('UPDATE change_log SET author = NULL; COMMIT')
}

test('a large batch leaves the records and the changes that many small ones do', async (t) => {
  const large = await opened(t)
  const small = await opened(t)
  // The second knows half of the names, and its size is not a multiple of anything; the third knows all.
  for (const rows of [rowsOf(1_000, 1, 0), rowsOf(4_957, 2, 1), rowsOf(4_957, 2, 0)]) {
    let changed = 0
    transaction(large, () => (changed = large.runMany(TEXTS, MOMENT, rows)))
    transaction(small, () => {
      for (let i = 0; i < rows.length; i += 99) {
        changed -= small.runMany(TEXTS, MOMENT, rows.slice(i, i + 99))
      }
    })
    assert.equal(changed, 0)
    assert.deepEqual(large.values(RECORDS, []), small.values(RECORDS, []))
    assert.deepEqual(large.values(LOG, []), small.values(LOG, []))
  }
  assert.ok(large.values(`SELECT 1 FROM changes WHERE kind = 'changed'`, []).length > 1_000)
})

test('a large batch that fails leaves nothing', async (t) => {
  const connection = await opened(t)
  const rows = rowsOf(3_000, 1, 1).map((row, i) => (i === 2_777 ? [row[0], null, null, null] : row))
  connection.exec('BEGIN IMMEDIATE')
  assert.throws(() => connection.runMany(TEXTS, MOMENT, rows), /NOT NULL/)
  connection.exec('ROLLBACK')
  assert.deepEqual(connection.values(RECORDS, []), [])
  assert.deepEqual(connection.values(LOG, []), [])
})
