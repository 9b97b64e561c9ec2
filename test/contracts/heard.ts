import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { Change } from '../../src/storage/database/changes/change.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { eventually } from '../support/eventually.ts'

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

/** Yields every change after a cursor, then new ones, until the signal aborts; `gap` if some were removed. */
export async function* follow(
  log: Database['changes'],
  cursor: string,
  signal: AbortSignal,
): AsyncGenerator<Change | 'gap'> {
  const news = new EventEmitter()
  const unwatch = log.watch(() => news.emit('change'))
  try {
    for (let place = cursor; !signal.aborted;) {
      const isNew = once(news, 'change', { signal }).catch(() => {})
      const page = await log.since(place, 500)
      if (page.kind === 'gap') return yield 'gap'
      yield* page.changes
      if (page.cursor === place) await isNew
      place = page.cursor
    }
  } finally {
    unwatch()
  }
}
