import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { describe, test } from 'node:test'
import pg from 'pg'
import type { Database } from '../../src/storage/database/database.ts'
import { openPostgres } from '../../src/storage/database/postgres/open.ts'
import { openSqlite } from '../../src/storage/database/sqlite/open.ts'
import { settledHead } from '../contracts/heard.ts'
import { POSTGRES_URL } from '../support/engine.ts'
import { temporaryFolder } from '../support/folder.ts'
import { oldPostgres, oldSqlite, RELEASED, statementsOf, type Statements } from './released.ts'

const NO_SERVER = POSTGRES_URL === undefined && 'no PostgreSQL: run npm run test:faults'
const NOW = '2026-02-03 04:05:06'
const HASH = 'b'.repeat(32)

type Value = string | number | null

/** What an old node does with its own statements. Each is a transaction. */
interface OldNode {
  run(statement: string, values: readonly Value[]): Promise<void>
  runMany(statement: string, constants: readonly Value[], rows: readonly (readonly Value[])[]): Promise<void>
}

function sqliteNode(statements: Statements, path: string) {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA foreign_keys = ON')
  const prepared = (name: string) => db.prepare(statements[name]?.sqlite ?? '')
  return {
    run: async (name: string, values: readonly SQLInputValue[]) => void prepared(name).run(...values),
    runMany: async (
      name: string,
      constants: readonly SQLInputValue[],
      rows: readonly (readonly SQLInputValue[])[],
    ) => {
      for (const row of rows) prepared(name).run(...constants, ...row)
    },
    close: async () => db.close(),
  }
}

async function postgresNode(statements: Statements, url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    run: async (name: string, values: readonly Value[]) =>
      void (await client.query(statements[name]?.postgres ?? '', [...values])),
    runMany: async (name: string, constants: readonly Value[], rows: readonly (readonly Value[])[]) => {
      const json = Buffer.from(JSON.stringify(rows))
      const { postgres = '', lock } = statements[name] ?? {}
      await client.query('BEGIN')
      if (lock !== undefined) await client.query(lock, [json])
      await client.query(postgres, [json, ...constants])
      // It announced in its transactions.
      await client.query(`SELECT pg_notify('catalejo_changes', 'old'); COMMIT`)
    },
    close: () => client.end(),
  }
}

/** An old node keeps writing while a node of this version follows. */
async function assertOverlap(old: OldNode, node: Database): Promise<void> {
  const head = await settledHead(node)
  const keys = node.version('key')
  const rows = [
    ['antiguo', null, 7, null, null, 1, 0, NOW],
    ['casa', null, 4, 'Eva', 'eva', 0, 0, NOW],
  ]
  await old.runMany('recordDomains', [NOW, 'grupo', 'grupo'], rows)
  await old.runMany('recordDomains', [NOW, 'grupo', 'grupo'], rows)
  await old.runMany('markDomains', [NOW, 5], [['antiguo', 1, 1, null, null, null, null]])
  await old.run('deleteExpired', [5, 10])
  await old.run('deleteAllExpired', [1_577_836_800_000])
  await old.run('insertBlob', [HASH, `${HASH}.x`, 'png', 'image/png', 1, 1, 1, 1, '0'])
  await old.run('upsertImage', [2, HASH, 'a.png', 'a.png', '::1', 9])
  await old.run('deleteImage', [2, HASH])
  await old.run('deleteBlob', [HASH])
  await old.run('addTrash', [`${HASH}.x`])
  await old.run('removeTrash', [`${HASH}.x`])
  await old.run('insertAccount', ['nueva', 'imagestore', 1])
  await old.run('insertKey', ['llavenueva', 2, 'huella', 1])
  await old.run('revokeKey', [7, 'llavenueva'])

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
      const node = await openSqlite(path)
      const old = sqliteNode(await statementsOf(version), path)
      try {
        await assertOverlap(old, node)
      } finally {
        await Promise.all([old.close(), node.close()])
      }
    })

    test(
      `${version} on PostgreSQL: its statements work, and its changes are followed`,
      { skip: NO_SERVER },
      async () => {
        const database = await oldPostgres(
          version,
          POSTGRES_URL ?? '',
          `old_${randomBytes(6).toString('hex')}`,
        )
        const node = await openPostgres(database.url)
        const old = await postgresNode(await statementsOf(version), database.url)
        try {
          await assertOverlap(old, node)
        } finally {
          await Promise.all([old.close(), node.close()])
          await database.drop()
        }
      },
    )
  }
})
