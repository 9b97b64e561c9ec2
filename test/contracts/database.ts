import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/storage/database/database.ts'
import { raw, sql, type Query } from '../../src/storage/database/sql.ts'
import { concurrencyContract } from './concurrency.ts'
import {
  findTrash,
  insertTrash,
  openTwo,
  recordOn,
  removeTrash,
  row,
  type OpenDatabase,
  type TwoNodes,
} from './nodes.ts'
import { tablesContract } from './tables.ts'

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

    test('search finds parts of any length, to the byte', async () => {
      const names = ['casa', 'mi-casa', 'cása', 'ñandú', '100%', 'a_b', 'a\\b', 'CASA']
      for (const one of names) await recordOn(database, [row(`busca${one}`)])
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
