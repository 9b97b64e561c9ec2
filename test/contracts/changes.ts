import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createAccounts } from '../../src/accounts/index.ts'
import { domainChanges } from '../../src/storage/database/changes/change-log.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { markDomains, recordDomains } from '../../src/domainwatch/queries-batches.ts'
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
        Object.values({
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
          note: noteThen,
          tags,
          date_reg_known: 1,
          deleted_after: null,
          past_drops: 0,
          announce_as: null,
          status_at: NOW,
          numbers: null,
        })
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

    test('a transaction that fails leaves no change, and no author behind', async () => {
      const cursor = await settledHead(database)
      await assert.rejects(
        database.transaction(async (tx) => {
          await tx.run(sql`DELETE FROM blob_trash`)
          await tx.runMany(recordDomains, [NOW, 'g', 'g'], Buffer.from(JSON.stringify([row('fallida')])))
          throw new Error('on purpose')
        }, account),
      )
      await recordOn(database, [row('anonima')])
      await settledHead(database)
      const page = await database.changes.since(cursor, 1_000)
      assert.ok(page.kind === 'page')
      assert.deepEqual(
        page.changes.map(({ key, accountId }) => [key, accountId]),
        [['anonima', null]],
      )
    })
  })
}
