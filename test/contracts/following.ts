import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { TOPICS, type Change } from '../../src/storage/database/changes/change.ts'
import { sweepChanges } from '../../src/storage/database/changes/change-log.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { empty, sql } from '../../src/storage/database/sql.ts'
import { eventually } from '../support/eventually.ts'
import { ManualClock } from '../support/test-service.ts'
import { assertChained, follow, settledHead } from './heard.ts'
import { openTwo, recordOn, row, type OpenDatabase, type TwoNodes } from './nodes.ts'

const DAY_MS = 86_400_000

/** What the changes of every database promise to who follows them. */
export function followingContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: following the changes of every database`, () => {
    let nodes: TwoNodes
    let database: Database
    let other: Database

    before(async () => {
      nodes = await openTwo(make)
      ;({ database, other } = nodes)
    })
    after(() => nodes.close())

    test('a writer of domains does not make caches of images and keys forget', async () => {
      await Promise.all([settledHead(database), settledHead(other)])
      const versions = (node: Database) => (['image', 'key'] as const).map((topic) => node.version(topic))
      const [here, there] = [versions(database), versions(other)]
      const domains = other.version('domain')
      await recordOn(database, [row('constante')])
      await eventually(() => other.version('domain') !== domains)
      assert.deepEqual([versions(database), versions(other)], [here, there])
    })

    test('a version changes with every commit of its topic, on any node, and with no other', async () => {
      await Promise.all([settledHead(database), settledHead(other)])
      const versions = (node: Database) => TOPICS.map((topic) => node.version(topic))
      const heard = new Set<string>()
      for (const topic of TOPICS) {
        const [here, there] = [versions(database), versions(other)]
        await database.transaction((tx) =>
          tx.run(sql`INSERT INTO changes (at, topic, kind, key) VALUES (1, ${topic}, 'ns', 'tema')`),
        )
        assert.notEqual(database.version(topic), here[TOPICS.indexOf(topic)], 'immediately')
        await eventually(() => other.version(topic) !== there[TOPICS.indexOf(topic)])
        for (const [node, before] of [[database, here] as const, [other, there] as const]) {
          // A node may hear of its own commit once more, when it reads the log.
          const changed = TOPICS.filter((one, i) => !heard.has(one) && versions(node)[i] !== before[i])
          assert.deepEqual(changed, [topic])
        }
        heard.add(topic)
      }
    })

    test('a follower hears of every change of every node once, a record’s own in their order', async () => {
      const stop = new AbortController()
      const expected = { count: 0 }
      const heard: Change[] = []
      const head = await settledHead(database)
      const done = (async () => {
        for await (const change of follow(database.changes, head, stop.signal)) {
          assert.ok(change !== 'gap')
          heard.push(change)
          if (change.key === 'final') return
        }
      })()
      const names = Array.from({ length: 12 }, (_, i) => `seguido${i}`)
      await Promise.all(
        Array.from({ length: 6 }, async (_, writer) => {
          for (let round = 0; round < 15; round++) {
            const some = names.filter((_name, i) => (i * 7 + round * 3 + writer) % 4 !== 0)
            const changed = await recordOn(
              writer % 2 === 0 ? database : other,
              some.map((one) => row(one, { agent: `e${writer} r${round}` })),
            )
            expected.count += changed
          }
        }),
      )
      await recordOn(other, [row('final')])
      await done
      stop.abort()
      assert.equal(heard.length, expected.count + 1)
      assertChained(heard)
    })

    test('a follower that fell behind, or has a foreign cursor, gets a gap', async () => {
      const start = await settledHead(database)
      const seen = await database.changes.view()
      await recordOn(
        database,
        Array.from({ length: 30 }, (_, i) => row(`viejo${i}`)),
      )
      await settledHead(database)
      const first = await database.changes.since(start, 10)
      assert.ok(first.kind === 'page' && first.changes.length === 10)

      // All but ten by number; ids may have gaps, never more than that.
      const clock = new ManualClock(new Date().toISOString())
      assert.ok((await sweepChanges(database, clock, { maxAgeMs: DAY_MS, maxCount: 10 })) > 0)
      assert.deepEqual(await database.changes.since(start, 10), { kind: 'gap' })
      const everything = { where: empty, json: sql`'1'` }
      assert.equal(await database.changes.unseen(seen, everything, { after: 0, count: 10 }), undefined)
      const kept = await database.changes.since(await other.changes.start(), 100)
      assert.ok(kept.kind === 'page')
      assert.deepEqual(
        kept.changes.map(({ key }) => key),
        // In the order in which the engine stored them.
        kept.changes.map(({ key }) => key).filter((key) => key.startsWith('viejo')),
      )
      assert.equal(kept.changes.length, 10)

      // By age: all but the newest, from which ids continue.
      clock.advance(2 * DAY_MS)
      await sweepChanges(other, clock, { maxAgeMs: DAY_MS, maxCount: 1_000 })
      const last = await database.changes.since(await database.changes.start(), 100)
      assert.ok(last.kind === 'page' && last.changes.length === 1)
      assert.equal(last.cursor, kept.cursor)
      assert.deepEqual(await database.changes.since(last.cursor, 5), {
        kind: 'page',
        changes: [],
        cursor: last.cursor,
      })

      const [epoch = '', id = ''] = last.cursor.split('-')
      for (const strange of ['', 'x', `${epoch}-${Number(id) + 1}`, `000000000000-${id}`]) {
        assert.deepEqual(await database.changes.since(strange, 5), { kind: 'gap' }, strange)
      }
      const received = []
      for await (const change of follow(database.changes, start, new AbortController().signal))
        received.push(change)
      assert.deepEqual(received, ['gap'])
    })
  })
}
