import { toChange, DOMAIN_FIELDS, type Change } from '../../storage/database/changes/change.ts'
import { encodeRows } from '../../storage/database/batch.ts'
import type { Transaction } from '../../storage/database/database.ts'
import type { Dialect } from '../../storage/database/dialect.ts'
import { changedRecord } from '../filtered-record.ts'
import { MAX_TAGS, splitTags, toColumn } from '../tags.ts'
import type { SplitName } from '../words/dictionary.ts'
import * as queries from './queries.ts'
import type { RuleSet } from './rule-set.ts'

/** Changes read at a time: some 5 ms of work. */
const PAGE = 1_000
const TAGS = DOMAIN_FIELDS.indexOf('tags')

/**
 * Gives records that this transaction has recorded, or whose status it has changed, the tags of the rules. The tags belong to the
 * change that they follow from: followers, events and history see one change.
 * @param before the newest change before its writes
 */
export async function tagChanged(
  tx: Transaction,
  dialect: Dialect,
  rules: RuleSet,
  split: SplitName,
  before: number,
): Promise<void> {
  const tagged = new Map<string, { readonly tags: string; readonly id: number; readonly after: string }>()
  let last = before
  for (let isMore = true; isMore;) {
    const rows = await tx.values(queries.ownChanges(dialect, last, PAGE))
    for (const row of rows) {
      const change = toChange(row, '')
      const id = Number(row[0])
      last = id
      const tags = change && tagsAfter(change, rules, split)
      if (change === undefined || tags === undefined) continue
      const state: unknown[] = JSON.parse(String(row.at(-1)))
      state[TAGS] = tags
      tagged.set(change.key, { tags, id, after: JSON.stringify(state) })
    }
    isMore = rows.length === PAGE
  }
  if (tagged.size === 0) return
  const records = [...tagged].map(([name, { tags }]) => ({ name, tags }))
  await tx.runMany(queries.setTags, [], encodeRows(queries.setTags, records))
  await tx.run(queries.deleteOwnChanges(dialect, last))
  await tx.runMany(queries.amendChanges, [], encodeRows(queries.amendChanges, tagged.values()))
}

/** Returns the tags of a record after a change, as the column holds them; undefined if the rules add none. */
function tagsAfter({ key, before, after }: Change, rules: RuleSet, split: SplitName): string | undefined {
  if (after === null || before?.['status'] === after['status']) return undefined
  const record = changedRecord(key, after, split)
  const present = splitTags(record.tags)
  const tags = [...new Set([...present, ...rules.tagsFor(record)])].slice(0, MAX_TAGS)
  return tags.length === present.length ? undefined : (toColumn(tags) ?? undefined)
}
