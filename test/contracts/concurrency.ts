import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Database } from '../../src/storage/database/database.ts'
import { propertyRuns } from '../support/effort.ts'
import { sql } from '../../src/storage/database/sql.ts'
import {
  DATE,
  findTrash,
  insertTrash,
  openTwo,
  recordOn,
  row,
  type OpenDatabase,
  type TwoNodes,
} from './nodes.ts'

/** Tests of several nodes that write concurrently. */
export function concurrencyContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: nodes that write concurrently`, () => {
    let nodes: TwoNodes
    let database: Database
    let other: Database

    before(async () => {
      nodes = await openTwo(make)
      ;({ database, other } = nodes)
    })
    after(() => nodes.close())

    test('two nodes recording the same names in opposite orders both succeed', async () => {
      const names = Array.from({ length: 2_000 }, (_, i) => `cruce${String(i).padStart(5, '0')}`)
      for (let round = 0; round < 3; round++) {
        await Promise.all(
          [names, names.toReversed()].map(async (order, i) => {
            const rows = order.map((one) => row(one, { agent: `ronda ${round} nodo ${i}` }))
            await recordOn(i === 0 ? database : other, rows)
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
              const changed = await recordOn(client % 2 === 0 ? database : other, rows)
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
        { numRuns: propertyRuns(25) },
      )
    })

    test('a read during a large batch finds all of it or none', async () => {
      const names = Array.from({ length: 20_000 }, (_, i) => `grande${i}`)
      let underWay = true
      const adding = recordOn(
        database,
        names.map((one) => row(one)),
      ).finally(() => (underWay = false))
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
  })
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]]
  return items.flatMap((first) =>
    permutations(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
  )
}
