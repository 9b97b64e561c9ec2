import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccounts } from '../../src/accounts/index.ts'
import type { Change } from '../../src/database/changes/change.ts'
import { sweepChanges } from '../../src/database/changes/sweep.ts'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/sql.ts'
import { DISCARDED_LIFETIME_MS } from '../../src/domainwatch/discarding.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
import * as images from '../../src/imagestore/queries.ts'
import { ManualClock } from '../support/service.ts'
import { DATE, NOW, type OpenDatabase } from './nodes.ts'
import { eventually } from '../support/eventually.ts'

const DAY_MS = 86_400_000

type Row = readonly (string | number | null)[]

/** What the changes of every database promise. */
export function changesContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: the changes of every database`, () => {
    let place: OpenDatabase
    let database: Database
    let other: Database
    let account: number

    before(async () => {
      place = await make()
      database = await place.open()
      other = await place.open()
      await createAccounts(database, new ManualClock(`${NOW}Z`)).createKey('grupo', 'domainwatch')
      account = Number((await database.values(sql`SELECT id FROM accounts`))[0]?.[0])
    })
    after(async () => {
      await Promise.all([database.close(), other.close()])
      await place.remove()
    })

    const row = (domain: string, agent: string | null = null, status = 1): Row => [
      domain,
      null,
      domain.length,
      agent,
      agent,
      status,
      0,
      DATE,
    ]
    const record = (node: Database, rows: readonly Row[], author: number | null = account) =>
      node.transaction(
        (tx) => tx.runMany(recordDomains, [NOW, 'grupo', 'grupo'], Buffer.from(JSON.stringify(rows))),
        author ?? undefined,
      )
    const mark = (rows: readonly Row[], at: number) =>
      database.transaction(
        (tx) => tx.runMany(markDomains, [NOW, at], Buffer.from(JSON.stringify(rows))),
        account,
      )
    const plain = ({ topic, kind, key, accountId, before: was, after: is }: Change) => {
      return { topic, kind, key, accountId, before: was, after: is }
    }
    /** What `work` left, once all that was under way has settled. */
    async function changesOf(work: () => Promise<unknown>) {
      const cursor = await settledHead(database)
      await work()
      const end = await settledHead(database)
      const page = await database.changes.since(cursor, 1_000)
      assert.ok(page.kind === 'page')
      assert.equal(page.cursor, end)
      return page.changes.map(plain)
    }
    const fields = (changed: object) => ({
      agent: 'grupo',
      status: 1,
      reserved: 0,
      revision: 0,
      discarded_at: null,
      date_reg: DATE,
      date_mod: NOW,
      released_at: null,
      ...changed,
    })

    test('a domain added, changed, discarded and deleted: by whom, from what, to what', async () => {
      const of = (
        kind: string,
        was: object | null,
        is: object | null,
        accountId: number | null = account,
      ) => ({
        topic: 'domain',
        kind,
        key: 'vida',
        accountId,
        before: was,
        after: is,
      })
      assert.deepEqual(await changesOf(() => record(database, [row('vida')])), [
        of('added', null, fields({})),
      ])
      // Sent again it is the same.
      assert.deepEqual(await changesOf(() => record(database, [row('vida')])), [])
      const sold = fields({ agent: 'Ana "Ñ"', status: 0, released_at: NOW })
      assert.deepEqual(await changesOf(() => record(database, [row('vida', 'Ana "Ñ"', 0)], null)), [
        of('changed', fields({}), sold, null),
      ])
      const discarded = { ...sold, discarded_at: 7 }
      assert.deepEqual(await changesOf(() => mark([['vida', null, 1, null, null, null, null]], 7)), [
        of('discarded', sold, discarded),
      ])
      assert.deepEqual(await changesOf(() => mark([['vida', null, 1, null, null, null, null]], 9)), [])
      const clock = new ManualClock('1970-01-01T00:00:00Z')
      clock.advance(7 + DISCARDED_LIFETIME_MS)
      assert.deepEqual(await changesOf(() => purgeExpired(other, clock, new AbortController().signal)), [
        of('deleted', discarded, null, null),
      ])
    })

    test('images, keys and accounts', async () => {
      const clock = new ManualClock(`${NOW}Z`)
      const accounts = createAccounts(database, clock)
      const hash = 'a'.repeat(32)
      let id = ''
      let fotos = 0
      const made = await changesOf(async () => {
        const outcome = await accounts.createKey('fotos', 'imagestore')
        assert.ok(outcome.kind === 'created')
        id = outcome.id
        fotos = Number((await database.values(sql`SELECT id FROM accounts WHERE name = 'fotos'`))[0]?.[0])
      })
      const nothing = { before: null, after: null }
      assert.deepEqual(made, [
        {
          topic: 'account',
          kind: 'made',
          key: 'fotos',
          accountId: fotos,
          before: null,
          after: { service: 'imagestore' },
        },
        { topic: 'key', kind: 'made', key: id, accountId: fotos, ...nothing },
      ])
      assert.deepEqual(await changesOf(async () => accounts.revoke(id)), [
        { topic: 'key', kind: 'revoked', key: id, accountId: fotos, ...nothing },
      ])
      assert.deepEqual(await changesOf(async () => accounts.revoke(id)), [])

      const blob = {
        hash,
        key: 'k',
        format: 'png',
        mime: 'image/png',
        size: 1,
        width: 1,
        height: 1,
        frames: 1,
        dhash: '0',
        thumbhash: null,
      }
      const store = (file: string, date: number) =>
        database.transaction((tx) =>
          tx.run(images.upsertImage(fotos, hash, { name: file, ip: '::1', expires: null }, date)),
        )
      const of = (kind: string, was: object | null, is: object | null) => {
        return { topic: 'image', kind, key: hash, accountId: fotos, before: was, after: is }
      }
      const stored = await changesOf(async () => {
        await database.transaction((tx) => tx.run(images.insertBlob(blob)))
        await store('uno.png', 1)
        await store('dos.png', 2)
        await database.transaction((tx) => tx.run(images.deleteImage(fotos, hash, 0)))
      })
      const [uno, dos] = [
        { name: 'uno.png', date: 1 },
        { name: 'dos.png', date: 2 },
      ]
      assert.deepEqual(stored, [of('stored', null, uno), of('stored', uno, dos), of('deleted', dos, null)])
    })

    test('a transaction that fails leaves no change, and no author behind', async () => {
      const changed = await changesOf(async () => {
        await assert.rejects(
          database.transaction(async (tx) => {
            await tx.run(sql`DELETE FROM blob_trash`)
            await tx.runMany(recordDomains, [NOW, 'g', 'g'], Buffer.from(JSON.stringify([row('fallida')])))
            throw new Error('on purpose')
          }, account),
        )
        await record(database, [row('anonima')], null)
      })
      assert.deepEqual(
        changed.map(({ key, accountId }) => [key, accountId]),
        [['anonima', null]],
      )
    })

    test('a writer of domains does not make caches of images and keys forget; who changes those does, anywhere', async () => {
      await settledHead(other)
      const versions = (node: Database) => (['image', 'key'] as const).map((topic) => node.version(topic))
      const [here, there] = [versions(database), versions(other)]
      const domains = other.version('domain')
      await record(database, [row('constante')])
      await eventually(() => other.version('domain') !== domains)
      assert.deepEqual([versions(database), versions(other)], [here, there])

      const accounts = createAccounts(database, new ManualClock(`${NOW}Z`))
      const outcome = await accounts.createKey('revocable', 'domainwatch')
      assert.ok(outcome.kind === 'created')
      const elsewhere = createAccounts(other, new ManualClock(`${NOW}Z`))
      await eventually(async () => (await elsewhere.identify(outcome.key)) !== undefined)
      await accounts.revoke(outcome.id)
      assert.equal(await accounts.identify(outcome.key), undefined)
      const start = performance.now()
      await eventually(async () => (await elsewhere.identify(outcome.key)) === undefined)
      assert.ok(performance.now() - start < 3_000)
    })

    test('a follower hears of every change of every node once, a record’s own in their order', async () => {
      const stop = new AbortController()
      const expected = { count: 0 }
      const heard: Change[] = []
      const head = await settledHead(database)
      const done = (async () => {
        for await (const change of database.changes.follow(head, stop.signal)) {
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
            const changed = await record(
              writer % 2 === 0 ? database : other,
              some.map((one) => row(one, `e${writer} r${round}`)),
            )
            expected.count += changed
          }
        }),
      )
      await record(other, [row('final')])
      await done
      stop.abort()
      assert.equal(heard.length, expected.count + 1)
      assertChained(heard)
    })

    test('whoever fell behind what is kept, or comes from elsewhere, is told so', async () => {
      const start = await settledHead(database)
      await record(
        database,
        Array.from({ length: 30 }, (_, i) => row(`viejo${i}`)),
      )
      const first = await database.changes.since(start, 10)
      assert.ok(first.kind === 'page' && first.changes.length === 10)

      // All but ten by number; ids may have gaps, never more than that.
      const clock = new ManualClock(new Date().toISOString())
      await settledHead(database)
      assert.ok((await sweepChanges(database, clock, { maxAgeMs: DAY_MS, maxCount: 10 })) > 0)
      assert.deepEqual(await database.changes.since(start, 10), { kind: 'gap' })
      const kept = await database.changes.since(await other.changes.start(), 100)
      assert.ok(kept.kind === 'page')
      assert.deepEqual(
        kept.changes.map(({ key }) => key),
        // In the order in which the engine stored them.
        kept.changes.map(({ key }) => key).filter((key) => key.startsWith('viejo')),
      )
      assert.equal(kept.changes.length, 10)

      // By age: all but the newest, from which ids go on.
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
      const told = []
      for await (const change of database.changes.follow(start, new AbortController().signal))
        told.push(change)
      assert.deepEqual(told, ['gap'])
    })
  })
}

/** Each change of a record begins where the one before it ended: none is left out, doubled or out of turn. */
export function assertChained(heard: readonly Change[]): void {
  const last = new Map<string, Change>()
  const cursors = new Set<string>()
  for (const change of heard) {
    assert.ok(!cursors.has(change.cursor), 'heard twice')
    cursors.add(change.cursor)
    const previous = last.get(change.key)
    if (previous !== undefined) assert.deepEqual(change.before, previous.after, change.key)
    last.set(change.key, change)
  }
}

/** The head, once all that was committed before is settled. */
export async function settledHead(node: Database): Promise<string> {
  const [row] = await node.values(sql`SELECT COALESCE(max(id), 0) FROM changes`)
  let head = await node.changes.head()
  await eventually(async () => {
    head = await node.changes.head()
    return Number(head.split('-')[1]) >= Number(row?.[0])
  })
  return head
}
