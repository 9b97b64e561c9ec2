import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccounts } from '../../src/accounts/index.ts'
import { domainChanges } from '../../src/storage/database/changes/change-log.ts'
import type { Change } from '../../src/storage/database/changes/change.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { DISCARDED_LIFETIME_MS } from '../../src/domainwatch/limits.ts'
import { purgeExpired } from '../../src/domainwatch/index.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
import * as images from '../../src/imagestore/queries.ts'
import { ManualClock } from '../support/service.ts'
import { settledHead } from './heard.ts'
import {
  DATE,
  NOW,
  openTwo,
  recordOn,
  row,
  type DomainRow,
  type OpenDatabase,
  type TwoNodes,
} from './nodes.ts'

/** The elements of `markDomains` after `discarded`. */
const UNCHANGED = Array.from({ length: 7 }, () => null)

/** What the changes of every database promise. */
export function changesContract(name: string, make: () => Promise<OpenDatabase>): void {
  describe(`${name}: the changes of every database`, () => {
    let nodes: TwoNodes
    let database: Database
    let other: Database
    let account: number

    before(async () => {
      nodes = await openTwo(make)
      ;({ database, other } = nodes)
      await createAccounts(database, new ManualClock(`${NOW}Z`)).createKey('grupo', 'domainwatch')
      account = Number((await database.values(sql`SELECT id FROM accounts`))[0]?.[0])
    })
    after(() => nodes.close())

    const domains = () => domainChanges(database.dialect)
    const record = (batch: readonly DomainRow[]) => recordOn(database, batch, { author: account })
    const mark = (rows: readonly DomainRow[], at: number) =>
      database.transaction(
        (tx) => tx.runMany(markDomains, [NOW, at, at, 'grupo'], Buffer.from(JSON.stringify(rows))),
        account,
      )
    const plain = ({ topic, kind, key, accountId, before: was, after: is }: Change) => {
      return { topic, kind, key, accountId, before: was, after: is }
    }
    /** What `work` left, once all that was under way has settled. */
    async function toChanges(work: () => Promise<unknown>) {
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
      seen_at: null,
      seen_by: null,
      note: null,
      tags: null,
      date_reg_known: 1,
      deleted_after: null,
      past_drops: 0,
      announce_as: null,
      status_at: NOW,
      numbers: null,
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
      assert.deepEqual(await toChanges(() => record([row('vida')])), [of('added', null, fields({}))])
      // Sent again it is the same.
      assert.deepEqual(await toChanges(() => record([row('vida')])), [])
      const sold = fields({ agent: 'Ana "Ñ"', status: 0, released_at: NOW, deleted_after: NOW })
      assert.deepEqual(
        await toChanges(() => recordOn(database, [row('vida', { agent: 'Ana "Ñ"', status: 0 })])),
        [of('changed', fields({}), sold, null)],
      )
      const discarded = { ...sold, discarded_at: 7 }
      assert.deepEqual(await toChanges(() => mark([['vida', null, 1, ...UNCHANGED]], 7)), [
        of('discarded', sold, discarded),
      ])
      assert.deepEqual(await toChanges(() => mark([['vida', null, 1, ...UNCHANGED]], 9)), [])
      const clock = new ManualClock('1970-01-01T00:00:00Z')
      clock.advance(7 + DISCARDED_LIFETIME_MS)
      assert.deepEqual(await toChanges(() => purgeExpired(other, clock, new AbortController().signal)), [
        of('deleted', discarded, null, null),
      ])
    })

    test('changes as text are without long notes', async () => {
      const note = 'Ñandú "1" '.repeat(100)
      const noted = (name: string, text: string) => [
        name,
        ...Array.from({ length: 7 }, () => null),
        text,
        ' casa ',
      ]
      await record([row('corta'), row('larga')])
      const seen = await database.changes.view()
      await mark([noted('corta', 'Ñ'), noted('larga', note)], 7)
      await mark([noted('larga', '')], 7)
      const page = await database.changes.unseen(seen, domains(), { after: 0, count: 1_000 })
      assert.ok(page !== undefined)
      const state = (noteThen: string | null, tags: string | null) =>
        Object.values(fields({ note: noteThen, tags }))
      assert.deepEqual(JSON.parse(`[${page.text}]`), [
        ['corta', state(null, null), state('Ñ', ' casa ')],
        ['larga', state(null, null), state(null, ' casa ')],
        ['larga', state(null, ' casa '), state(null, ' casa ')],
      ])
    })

    test('changes that were not visible in a view are read in pages, of any node and whatever else changes', async () => {
      const seen = await other.changes.view()
      await record([row('vista1'), row('vista2')])
      await createAccounts(other, new ManualClock(`${NOW}Z`)).createKey('otra', 'domainwatch')
      await recordOn(other, [row('vista3')])
      const names: string[] = []
      let after = 0
      for (const left of [5, 3, 1]) {
        const page = await database.changes.unseen(seen, domains(), { after, count: 2 })
        assert.ok(page !== undefined)
        assert.deepEqual([page.total, page.count], [left, Math.min(left, 2)])
        names.push(...JSON.parse(`[${page.text}]`).map(([name]: [string]) => name))
        after = page.last
        if (left === 1) {
          const later = await other.changes.unseen(page.view, domains(), { after: 0, count: 2 })
          assert.deepEqual([later?.text, later?.total], ['', 0])
        }
      }
      assert.deepEqual(names, ['vista1', 'vista2', 'vista3'])
      assert.equal(
        await database.changes.unseen({ ...seen, epoch: '0' }, domains(), { after: 0, count: 2 }),
        undefined,
      )
      const ahead = { ...seen, newest: Number.MAX_SAFE_INTEGER }
      assert.equal(await database.changes.unseen(ahead, domains(), { after: 0, count: 2 }), undefined)
    })

    test('images, keys and accounts', async () => {
      const clock = new ManualClock(`${NOW}Z`)
      const accounts = createAccounts(database, clock)
      const hash = 'a'.repeat(32)
      let id = ''
      let fotos = 0
      const made = await toChanges(async () => {
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
      assert.deepEqual(await toChanges(async () => accounts.revoke(id)), [
        { topic: 'key', kind: 'revoked', key: id, accountId: fotos, ...nothing },
      ])
      assert.deepEqual(await toChanges(async () => accounts.revoke(id)), [])

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
        color: null,
      }
      const store = (file: string, date: number) =>
        database.transaction((tx) =>
          tx.run(images.upsertImage(fotos, hash, { name: file, ip: '::1', expires: null }, date)),
        )
      const of = (kind: string, was: object | null, is: object | null) => {
        return { topic: 'image', kind, key: hash, accountId: fotos, before: was, after: is }
      }
      const stored = await toChanges(async () => {
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
      const changed = await toChanges(async () => {
        await assert.rejects(
          database.transaction(async (tx) => {
            await tx.run(sql`DELETE FROM blob_trash`)
            await tx.runMany(recordDomains, [NOW, 'g', 'g'], Buffer.from(JSON.stringify([row('fallida')])))
            throw new Error('on purpose')
          }, account),
        )
        await recordOn(database, [row('anonima')])
      })
      assert.deepEqual(
        changed.map(({ key, accountId }) => [key, accountId]),
        [['anonima', null]],
      )
    })
  })
}
