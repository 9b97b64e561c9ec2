import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Database } from '../../src/database/database.ts'
import { continueIds, pageOf, removeRows, storeRows, type Row } from '../../src/database/rows.ts'
import { raw, sql } from '../../src/database/sql.ts'
import { copiedTables, policies } from '../../src/database/tables.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'

const NOW = '2026-01-02 03:04:05'
const DATE = '2025-12-31 14:30:34'

/** How an implementation is opened: a second opening is another process (or node) on the same data. */
export interface OpenDatabase {
  open(): Promise<Database>
  remove(): Promise<void>
}

/** What holds for every database. */
export function databaseContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: the contract of every database`, () => {
    let place: OpenDatabase
    let database: Database
    let other: Database

    before(async () => {
      place = await make()
      database = await place.open()
      other = await place.open()
    })
    after(async () => {
      await Promise.all([database.close(), other.close()])
      await place.remove()
    })

    const record = (
      batch: readonly (readonly (string | number | null)[])[],
      account = 'grupo',
      now = NOW,
      node = database,
    ) =>
      node.transaction((tx) =>
        tx.runMany(recordDomains, [now, account, account], Buffer.from(JSON.stringify(batch))),
      )
    const row = (
      domain: string,
      { agent = null, status = 1 }: { agent?: string | null; status?: number } = {},
    ) => [domain, null, domain.length, agent, agent, status, 0, DATE]
    const agents = async (...names: string[]) => {
      const found = await database.all<{ name: string; agent: string; date_mod: string }>(
        sql`SELECT name, agent, date_mod FROM domains ORDER BY name`,
      )
      return found.filter((one) => names.includes(one.name)).map((one) => ({ ...one }))
    }

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

    test('what a transaction wrote is read at once, and by others', async () => {
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

    test('a version changes with a commit of this node at once', async () => {
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
        ['marcado', 1, 1, null, null, null, null],
        ['inexistente', 1, null, null, null, null, null],
      ]
      const mark = (moment: number) =>
        database.transaction((tx) =>
          tx.runMany(markDomains, [DATE, moment], Buffer.from(JSON.stringify(marks))),
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

    test('two nodes recording the same names in opposite orders both succeed', async () => {
      const names = Array.from({ length: 2_000 }, (_, i) => `cruce${String(i).padStart(5, '0')}`)
      const nodes = [database, other]
      for (let round = 0; round < 3; round++) {
        await Promise.all(
          [names, names.toReversed()].map(async (order, i) => {
            const rows = order.map((one) => row(one, { agent: `ronda ${round} nodo ${i}` }))
            await nodes[i]?.transaction((tx) =>
              tx.runMany(recordDomains, [NOW, 'grupo', 'grupo'], Buffer.from(JSON.stringify(rows))),
            )
          }),
        )
        const found = await database.values(sql`SELECT DISTINCT agent FROM domains WHERE name LIKE 'cruce%'`)
        // All of one or all of the other: a transaction is whole.
        assert.equal(found.length, 1)
      }
    })

    test('overlapping batches of four clients, in any order: what stays is what some order of them leaves', async () => {
      const pool = Array.from({ length: 40 }, (_, i) => `mezcla${i}`)
      const batch = fc.uniqueArray(
        fc.record({ name: fc.constantFrom(...pool), reserved: fc.constantFrom(0, 1) }),
        {
          selector: ({ name }) => name,
          minLength: 1,
        },
      )
      let round = 0
      await fc.assert(
        fc.asyncProperty(fc.tuple(batch, batch, batch, batch), async (batches) => {
          round++
          await Promise.all(
            batches.map(async (items, client) => {
              const rows = items.map(({ name: one, reserved }) => [
                ...row(one, { agent: `${round}.${client}` }).slice(0, 6),
                reserved,
                DATE,
              ])
              const changed = await (client % 2 === 0 ? database : other).transaction((tx) =>
                tx.runMany(recordDomains, [NOW, 'grupo', 'grupo'], Buffer.from(JSON.stringify(rows))),
              )
              assert.equal(changed, items.length)
            }),
          )
          const found = await database.values(
            sql`SELECT name, agent, reserved FROM domains WHERE agent LIKE ${`${round}.%`}`,
          )
          const last = new Map(found.map(([one, agent, reserved]) => [one, { agent, reserved }]))
          assert.deepEqual(new Set(last.keys()), new Set(batches.flat().map(({ name: one }) => one)))
          const covers = (client: number, others: readonly number[]) =>
            batches[client]?.every(({ name: one, reserved }) => {
              const seen = last.get(one)
              if (seen?.agent === `${round}.${client}`) return seen.reserved === reserved
              return others.some((each) => seen?.agent === `${round}.${each}`)
            }) ?? false
          const someOrder = permutations([0, 1, 2, 3]).some((order) =>
            order.every((client, i) => covers(client, order.slice(i + 1))),
          )
          assert.ok(someOrder, JSON.stringify({ batches, found }))
        }),
        { numRuns: 25 },
      )
    })

    test('a read during a large batch finds all of it or none', async () => {
      const names = Array.from({ length: 20_000 }, (_, i) => `grande${i}`)
      let underWay = true
      const adding = record(names.map((one) => row(one))).finally(() => (underWay = false))
      const counts = new Set<unknown>()
      while (underWay) {
        for (const reader of [other, other.scanner]) {
          const [count] = await reader.values(sql`SELECT count(*) FROM domains WHERE name LIKE 'grande%'`)
          counts.add(count?.[0])
        }
      }
      assert.equal(await adding, names.length)
      const [end] = await other.values(sql`SELECT count(*) FROM domains WHERE name LIKE 'grande%'`)
      assert.deepEqual(end, [names.length])
      counts.add(0).add(names.length)
      assert.deepEqual(counts, new Set([0, names.length]))
    })

    test('nodes that read, decide and write the same leave one row and no failure', async () => {
      await Promise.all(
        Array.from({ length: 16 }, (_, i) =>
          (i % 2 === 0 ? database : other).transaction(async (tx) => {
            if ((await tx.first(findTrash('una sola vez'))) === undefined)
              await tx.run(insertTrash('una sola vez'))
          }),
        ),
      )
      assert.equal((await database.all(findTrash('una sola vez'))).length, 1)
    })

    test('rows read for update are settled one transaction after the other', async () => {
      await database.transaction((tx) => tx.run(sql`INSERT INTO blob_trash (key) VALUES ('cuenta 0')`))
      const increment = (node: Database) =>
        node.transaction(async (tx) => {
          const found = await tx.first<{ key: string }>(
            sql`SELECT key FROM blob_trash WHERE key LIKE 'cuenta %' ${node.dialect.forUpdate}`,
          )
          // Another node changed the very key between the look and the lock: look again.
          if (found === undefined) return false
          await tx.run(
            sql`UPDATE blob_trash SET key = ${`cuenta ${Number(found.key.slice(7)) + 1}`} WHERE key = ${found.key}`,
          )
          return true
        })
      await Promise.all(
        Array.from({ length: 24 }, async (_, i) => {
          while (!(await increment(i % 2 === 0 ? database : other)));
        }),
      )
      assert.deepEqual(await database.values(sql`SELECT key FROM blob_trash WHERE key LIKE 'cuenta %'`), [
        ['cuenta 24'],
      ])
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

    test('every table says what becomes of it when an instance moves, with all columns and its key', async () => {
      const names = (await database.values(tablesOf(name))).flat().map(String)
      const listed = policies.map((policy) => (policy.kind === 'copied' ? policy.table.name : policy.name))
      // PostgreSQL's alone.
      if (!names.includes('schema_version')) names.push('schema_version')
      assert.deepEqual(names.toSorted(), listed.toSorted(), 'src/database/tables.ts lists every table')
      for (const table of copiedTables) {
        const columns = await database.values(columnsOf(name, table.name))
        assert.deepEqual(Object.fromEntries(columns), table.columns, table.name)
        assert.deepEqual(Object.keys(table.columns).slice(0, table.key.length), table.key, table.name)
        assert.deepEqual((await database.values(keyOf(name, table.name))).flat(), table.key)
      }
    })

    test('rows are stored, replaced and removed as they are given; ids go on behind them', async () => {
      const [accounts, images] = ['accounts', 'images'].map((name) =>
        copiedTables.find((table) => table.name === name),
      )
      assert.ok(accounts !== undefined && images !== undefined)
      const { dialect } = database
      const text = `'"\\ \u0001 \u2028 ñ 🦤`
      const rows: Row[] = [
        [70, text, 'imagestore', 8_640_000_000_000_000],
        [71, 'b', 'domainwatch', -1],
      ]
      const read = () => database.values(pageOf(accounts, [69], 10))
      await database.transaction((tx) => storeRows(tx, dialect, accounts, rows))
      assert.deepEqual(await read(), rows)
      await database.transaction(async (tx) => {
        await storeRows(tx, dialect, accounts, [[71, 'c', 'domainwatch', 5]])
        await continueIds(tx, dialect, accounts)
        await tx.run(sql`INSERT INTO accounts (name, service, created_at) VALUES ('d', 'imagestore', 1)`)
      })
      assert.deepEqual(await read(), [rows[0], [71, 'c', 'domainwatch', 5], [72, 'd', 'imagestore', 1]])
      await database.transaction((tx) => removeRows(tx, dialect, accounts, [[71], [70], [999]]))
      assert.deepEqual(await read(), [[72, 'd', 'imagestore', 1]])
      assert.deepEqual(await database.values(pageOf(accounts, [69], 1, ['id'])), [[72]])

      const blobs = copiedTables.find((table) => table.name === 'blobs')
      assert.ok(blobs !== undefined)
      await database.transaction(async (tx) => {
        for (const hash of ['h1', 'h2'])
          await storeRows(tx, dialect, blobs, [[hash, hash, 'f', 'm', 1, 1, 1, 1, 'd']])
        await storeRows(
          tx,
          dialect,
          images,
          ['h1', 'h2'].map((hash) => [72, hash, 'n', 'n', 'ip', 1]),
        )
        await removeRows(tx, dialect, images, [
          [72, 'h1'],
          [71, 'h2'],
        ])
      })
      assert.deepEqual(await database.values(pageOf(images, [72, 'h0'], 10, ['account_id', 'hash'])), [
        [72, 'h2'],
      ])
      assert.deepEqual(await database.values(pageOf(images, [72, 'h2'], 10, ['account_id', 'hash'])), [])
    })

    test('opening again finds the schema as it is', async () => {
      const again = await Promise.all([place.open(), place.open(), place.open()])
      for (const one of again) {
        const found = await one.values(findTrash('escrita'))
        await one.close()
        assert.deepEqual(found, [['escrita']])
      }
    })
  })
}

const onPostgres = (name: string) => name.startsWith('PostgreSQL')

const tablesOf = (name: string) =>
  onPostgres(name)
    ? sql`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
    : sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`

/** Stored columns (not those that are generated, nor a transaction's number) with their types, in our words. */
const columnsOf = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT column_name, CASE WHEN data_type = 'text' THEN 'text' WHEN data_type IN ('integer', 'bigint') THEN 'integer' ELSE data_type END
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name = ${table} AND is_generated = 'NEVER' AND data_type <> 'xid8'`
    : sql`SELECT name, lower(type) FROM pragma_table_xinfo(${table}) WHERE hidden = 0`

const keyOf = (name: string, table: string) =>
  onPostgres(name)
    ? sql`SELECT a.attname FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k(attnum, place)
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
        WHERE i.indrelid = ${table}::regclass AND i.indisprimary ORDER BY k.place`
    : sql`SELECT name FROM pragma_table_info(${table}) WHERE pk > 0 ORDER BY pk`

const insertTrash = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`
const removeTrash = (key: string) => sql`DELETE FROM blob_trash WHERE key = ${key}`
const findTrash = (key: string) => sql<{ key: string }>`SELECT key FROM blob_trash WHERE key = ${key}`

async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000
  while (!condition()) {
    assert.ok(Date.now() < deadline, 'it did not come about within 5 s')
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first) =>
    permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  )
}
