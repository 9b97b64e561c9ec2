import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import { lastAdds } from '../../src/domainwatch/queries-records.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { settledHead } from '../contracts/heard.ts'
import { noPostgres } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { openSession } from '../support/postgres.ts'
import {
  oldPostgres,
  oldSqlite,
  RELEASED,
  toStatements,
  type Statement,
  type Statements,
} from './released.ts'

const NOW = '2026-02-03 04:05:06'
const HASH = 'b'.repeat(32)

/** What an old node does with its own statements. Each is a transaction. */
interface OldNode extends AsyncDisposable {
  run(statement: Statement): Promise<void>
}

function sqliteNode(path: string): OldNode {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA foreign_keys = ON')
  return {
    run: async (statement) => {
      const prepared = db.prepare(statement.sqlite)
      if ('values' in statement) return void prepared.run(...statement.values)
      for (const row of statement.rows) prepared.run(...statement.constants, ...row)
    },
    [Symbol.asyncDispose]: async () => db.close(),
  }
}

async function postgresNode(url: string): Promise<OldNode> {
  const client = await openSession(url)
  return {
    run: async (statement) => {
      if ('values' in statement) return void (await client.query(statement.postgres, [...statement.values]))
      const { postgres, lock, constants, rows } = statement
      const json = Buffer.from(JSON.stringify(rows))
      await client.query('BEGIN')
      if (lock !== undefined) await client.query(lock, [json])
      await client.query(postgres, [json, ...constants])
      // It announced in its transactions.
      await client.query(`SELECT pg_notify('catalejo_changes', 'old'); COMMIT`)
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

/** How an old node notes when an account last added records. */
const noteAdd = (at: number): Statement => {
  const statement =
    `INSERT INTO feeds (account_id, added_at) SELECT id, ${at} FROM accounts WHERE name = 'grupo' ` +
    'ON CONFLICT (account_id) DO UPDATE SET added_at = excluded.added_at'
  return { sqlite: statement, postgres: statement, values: [] }
}

/** An old node keeps writing while a node of this version follows. */
async function assertOverlap(old: OldNode, statements: Statements, node: Database): Promise<void> {
  const head = await settledHead(node)
  const keys = node.version('key')
  for (const [name, statement] of Object.entries(statements)) {
    await old.run(statement)
    // Equal records change nothing.
    if (name === 'recordDomains') await old.run(statement)
  }

  await settledHead(node)
  const page = await node.changes.since(head, 100)
  assert.ok(page.kind === 'page')
  assert.deepEqual(
    page.changes.map(({ topic, kind, key, accountId }) => [topic, kind, key, accountId].join(' ')).toSorted(),
    [
      'account made nueva 4',
      'domain added antiguo ',
      'domain changed casa ',
      'domain deleted antiguo ',
      // One of the frozen records was over already.
      'domain deleted vencido ',
      'domain discarded antiguo ',
      `image deleted ${HASH} 2`,
      `image stored ${HASH} 2`,
      'key made llavenueva 2',
      'key revoked llavenueva 2',
    ].toSorted(),
  )
  const sold = page.changes.find(({ key, kind }) => key === 'casa' && kind === 'changed')
  assert.deepEqual(
    [sold?.before?.['agent'], sold?.after?.['agent'], sold?.after?.['released_at']],
    ['grupo', 'Eva', NOW],
  )
  assert.notEqual(node.version('key'), keys)
}

describe('old nodes on the new schema', { timeout: 300_000 }, () => {
  for (const version of RELEASED) {
    test(`${version} on SQLite: its statements work, and its changes are followed`, async () => {
      await using folder = await temporaryFolder()
      const path = await oldSqlite(version, folder.path)
      await using node = await openSqlite(path)
      await using old = sqliteNode(path)
      await assertOverlap(old, await toStatements(version), node)
    })

    test(
      `${version} on PostgreSQL: its statements work, and its changes are followed`,
      { skip: noPostgres },
      async () => {
        await using database = await oldPostgres(version)
        await using node = await openPostgres(database.url)
        await using old = await postgresNode(database.url)
        await assertOverlap(old, await toStatements(version), node)
        for (const at of [1, 2]) await old.run(noteAdd(at))
        const adds = await node.all(lastAdds())
        assert.deepEqual(adds.find(({ account }) => account === 'grupo')?.added_at, 2)
      },
    )
  }
})
