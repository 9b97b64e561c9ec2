import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, Transaction } from '../../src/storage/database/database.ts'
import { sqliteDialect } from '../../src/storage/database/dialect.ts'
import { raw, sql, type Query } from '../../src/storage/database/sql.ts'
import { markDomains } from '../../src/domainwatch/queries-batches.ts'
import { eventually } from '../support/eventually.ts'
import { concurrencyContract } from './concurrency.ts'
import {
  DATE,
  findTrash,
  insertTrash,
  NOW,
  openTwo,
  recordOn,
  removeTrash,
  row,
  type DomainRow,
  type OpenDatabase,
  type TwoNodes,
} from './nodes.ts'
import { tablesContract } from './tables.ts'

/** Rows of a large transaction. */
const LARGE = 50_000

/** What holds for every database. */
export function databaseContract(name: string, make: () => Promise<OpenDatabase>): void {
  basics(name, make)
  concurrencyContract(name, make)
  tablesContract(name, make)
}

function basics(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: the contract of every database`, () => {
    let nodes: TwoNodes
    let database: Database
    let other: Database

    before(async () => {
      nodes = await openTwo(make)
      ;({ database, other } = nodes)
      // Opens the connections, which on PostgreSQL may take longer than what is measured here.
      const open = (_: unknown, i: number) =>
        database.transaction(async (tx) => {
          await tx.all(findTrash('nada'))
          await sleep(50)
        }, i)
      await Promise.all(Array.from({ length: 16 }, open))
    })
    after(() => nodes.close())

    const record = (batch: readonly DomainRow[], account = 'grupo', now = NOW, node = database) =>
      recordOn(node, batch, { account, now })
    const agents = async (...names: string[]) => {
      const found = await database.all<{ name: string; agent: string; date_mod: string }>(
        sql`SELECT name, agent, date_mod FROM domains ORDER BY name`,
      )
      return found.filter((one) => names.includes(one.name)).map((one) => ({ ...one }))
    }

    test('an account that has many transactions waiting delays no other for more than a few of them', async () => {
      let started = 0
      const write = (account: number, i: number) =>
        database.transaction(async (tx) => {
          if (account === 1) started++
          await sleep(5)
          await tx.run(insertTrash(`turno ${account} ${i}`))
        }, account)
      const flood = Array.from({ length: 120 }, (_, i) => write(1, i))
      await write(2, 0)
      assert.ok(started < 10, `${started} went first`)
      await Promise.all(flood)
      await database.transaction((tx) => tx.run(sql`DELETE FROM blob_trash`))
    })

    test('a small transaction waits for one large one at most, also of its own account', async () => {
      const finished: string[] = []
      const begun = Promise.withResolvers<void>()
      const write = async (name: string, account: number, rows: number) => {
        const work = async (tx: Transaction) => {
          begun.resolve()
          if (rows === LARGE) await sleep(30)
          await tx.run(insertTrash(`lote ${name}`))
        }
        await database.transaction(work, account, { rows })
        finished.push(name)
      }
      const large = Array.from({ length: 12 }, (_, i) => write(`large ${i}`, 1 + (i % 3), LARGE))
      await begun.promise
      const small = [1, 2].map((account) => write(`small ${account}`, account, 10))
      await Promise.all([...large, ...small])
      // On PostgreSQL, several large ones run at the same time, and one connection is left to small ones.
      const places = [1, 2].map((account) => finished.indexOf(`small ${account}`))
      assert.ok(Math.max(...places) < 8, finished.join(', '))
      if (database.dialect === sqliteDialect) assert.deepEqual(places, [1, 2])
      await database.transaction((tx) => tx.run(sql`DELETE FROM blob_trash`))
    })

    test('an account that has many scans waiting delays no other for more than a few of them', async () => {
      const finished: number[] = []
      const scan = async (account: number, query: Query<object>) => {
        await database.scannerOf(account).all(query)
        finished.push(account)
      }
      // Milliseconds each, so that the order does not hang on how soon the machine runs the last step of one.
      const long = () =>
        sql<object>`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000) SELECT count(*) AS count FROM n`
      await Promise.all([...Array.from({ length: 120 }, () => scan(1, long())), scan(2, findTrash('nada'))])
      const place = finished.indexOf(2)
      assert.ok(place < 60, `${place} went first`)
    })

    test('a transaction that throws leaves nothing', async () => {
      const failure = new Error('on purpose')
      const work = database.transaction(async (tx) => {
        await tx.run(insertTrash('perdida'))
        assert.equal((await tx.all(findTrash('perdida'))).length, 1)
        throw failure
      })
      await assert.rejects(work, failure)
      assert.deepEqual(await database.all(findTrash('perdida')), [])
    })

    test('writes of a transaction are visible immediately, also to others', async () => {
      assert.equal(await database.transaction((tx) => tx.run(insertTrash('escrita'))), 1)
      for (const reader of [database, database.scanner, other, other.scanner]) {
        assert.deepEqual(
          (await reader.all(findTrash('escrita'))).map(({ key }) => key),
          ['escrita'],
        )
        assert.equal((await reader.first(findTrash('escrita')))?.key, 'escrita')
        assert.deepEqual(await reader.values(findTrash('escrita')), [['escrita']])
        assert.equal(await reader.first(findTrash('ausente')), undefined)
      }
    })

    test('numbers come as numbers, whatever their width', async () => {
      const moment = 8_640_000_000_000_000
      await database.transaction((tx) =>
        tx.run(
          sql`INSERT INTO accounts (name, service, created_at) VALUES ('números', 'imagestore', ${moment})`,
        ),
      )
      const query = sql<object>`SELECT count(*) AS count, max(created_at) AS moment FROM accounts WHERE name = 'números'`
      assert.deepEqual({ ...(await database.first(query)) }, { count: 1, moment })
      assert.deepEqual(await database.values(query), [[1, moment]])
    })

    test('names sort by code point, in lists and in comparisons', async () => {
      const names = ['a-b', 'a0', 'ab', 'aé', 'añ', 'b', 'ñ', 'zz', 'Z']
      for (const key of names) await database.transaction((tx) => tx.run(insertTrash(`orden ${key}`)))
      const sorted = names.map((key) => `orden ${key}`).sort()
      const rows = await database.values(
        sql`SELECT key FROM blob_trash WHERE key > ${'orden'} AND key < ${'ordeo'} ORDER BY key`,
      )
      assert.deepEqual(rows.flat(), sorted)
      const beyond = await database.values(
        sql`SELECT key FROM blob_trash WHERE key > ${'orden b'} AND key < ${'ordeo'} ORDER BY key`,
      )
      assert.deepEqual(
        beyond.flat(),
        sorted.filter((key) => key > 'orden b'),
      )
    })

    test('a version changes immediately with a commit of this node', async () => {
      const before = database.version('domain')
      await record([row('version-propia')])
      assert.notEqual(database.version('domain'), before)
    })

    test('a version changes with a commit of another node, in time', async () => {
      for (let round = 0; round < 20; round++) {
        const before = database.version('domain')
        await record([row(`version-ajena${round}`)], 'grupo', NOW, other)
        await eventually(() => database.version('domain') !== before)
      }
    })

    test('a batch records new rows and updates others, counting what changed', async () => {
      assert.equal(await record([row('uno'), row('dos', { agent: 'Ana' })]), 2)
      assert.deepEqual(await agents('uno', 'dos'), [
        { name: 'dos', agent: 'Ana', date_mod: NOW },
        { name: 'uno', agent: 'grupo', date_mod: NOW },
      ])
      // The same again changes nothing, not even from another account.
      assert.equal(await record([row('uno'), row('dos')], 'otra', DATE), 0)
      assert.equal(await record([row('uno', { agent: 'Eva' }), row('dos', { status: 0 })], 'otra', DATE), 2)
      assert.deepEqual(await agents('uno', 'dos'), [
        { name: 'dos', agent: 'Ana', date_mod: DATE },
        { name: 'uno', agent: 'Eva', date_mod: DATE },
      ])
      const [gone] = await database.values(
        sql`SELECT released_at, deleted_at FROM domains WHERE name = 'dos'`,
      )
      assert.deepEqual(gone, [DATE, DATE])
    })

    test('a batch of marks passes over what is not recorded', async () => {
      await record([row('marcado')])
      const marks = [
        ['marcado', 1, 1],
        ['inexistente', 1, null],
      ].map((marks) => [...marks, ...Array.from({ length: 7 }, () => null)])
      const mark = (moment: number) =>
        database.transaction((tx) =>
          tx.runMany(markDomains, [DATE, moment, moment, 'grupo'], Buffer.from(JSON.stringify(marks))),
        )
      assert.equal(await mark(5), 1)
      assert.equal(await mark(9), 1)
      const [found] = await database.values(
        sql`SELECT revision, discarded_at, date_mod FROM domains WHERE name = 'marcado'`,
      )
      assert.deepEqual(found, [1, 5, DATE])
    })

    test('texts survive a batch: quotes, backslashes, whatever JSON escapes', async () => {
      const agent = `'"\\ \u0001 \u2028 ñ 🦤 ; DROP TABLE domains; -- $1 ?1`
      await record([row('textos', { agent })])
      assert.equal((await agents('textos'))[0]?.agent, agent)
    })

    test('search finds parts of any length, to the byte', async () => {
      const names = ['casa', 'mi-casa', 'cása', 'ñandú', '100%', 'a_b', 'a\\b', 'CASA']
      for (const one of names) await record([row(`busca${one}`)])
      const parts = [
        'c',
        'ca',
        'cas',
        'casa',
        'sa',
        'ñ',
        'ú',
        '%',
        '_',
        '\\',
        'a_b',
        'a%b',
        'A',
        '',
        '\0',
        'zzz',
        "'",
      ]
      for (const part of parts) {
        const found = await database.scanner.values(
          sql`SELECT name FROM domains WHERE name LIKE 'busca%' AND ${database.dialect.contains(raw('name'), part)} ORDER BY name`,
        )
        const expected = names.map((one) => `busca${one}`).filter((one) => one.includes(part))
        assert.deepEqual(found.flat(), expected.sort(), JSON.stringify(part))
      }
    })

    test('a snapshot is one view, whatever is committed meanwhile', async () => {
      await database.transaction((tx) => tx.run(insertTrash('foto 1')))
      const seen = sql<{ key: string }>`SELECT key FROM blob_trash WHERE key LIKE 'foto %' ORDER BY key`
      await database.snapshot(async (reader) => {
        for (const node of [database, other]) await node.transaction((tx) => tx.run(removeTrash('foto 1')))
        await other.transaction((tx) => tx.run(insertTrash('foto 2')))
        assert.deepEqual(
          (await reader.all(seen)).map(({ key }) => key),
          ['foto 1'],
        )
        assert.deepEqual(await reader.values(seen), [['foto 1']])
        assert.equal((await reader.first(seen))?.key, 'foto 1')
        // Others see all of it, and write, while it lasts.
        assert.deepEqual(await database.values(seen), [['foto 2']])
        await assert.rejects(reader.all(removeTrash('foto 1')))
      })
      await database.snapshot(async (reader) => assert.deepEqual(await reader.values(seen), [['foto 2']]))
      const failure = new Error('on purpose')
      await assert.rejects(
        database.snapshot(async () => {
          throw failure
        }),
        failure,
      )
    })

    test('opening again finds the schema as it is', async () => {
      const again = await Promise.all([nodes.place.open(), nodes.place.open(), nodes.place.open()])
      for (const one of again) {
        const found = await one.values(findTrash('escrita'))
        await one.close()
        assert.deepEqual(found, [['escrita']])
      }
    })
  })
}
