import type { Clock } from '../../lib/clock.ts'
import type { NameBlock } from '../../lib/lookalikes/index.ts'
import type { Segment } from '../../lib/name-index/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { expiryCutoff } from '../limits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { namesAfter } from './queries.ts'

/** Names read at a time: some milliseconds for the connection that scans share. */
const PAGE = 20_000
const LINE_FEED = 0x0a

/** Reads all names that are recorded now: from memory if the index holds all records, otherwise from the database. */
export async function* recordedNames(
  database: Database,
  clock: Clock,
  nameIndex: Pick<NameIndex, 'current'>,
): AsyncGenerator<NameBlock> {
  const segments = await nameIndex.current()
  if (segments === undefined) yield* databaseNames(database, clock)
  else yield* indexedNames(segments.registered, clock.now())
}

/** All names of these segments as of the call: later changes have no effect. */
function* indexedNames(segments: readonly Segment[], now: number): Generator<NameBlock> {
  const cutoff = expiryCutoff(now)
  const snapshots = segments.map((segment) => ({ segment, live: segment.live.slice() }))
  for (const { segment, live } of snapshots) {
    const { names, starts, count } = segment.columns
    const isLive = (position: number) =>
      ((live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0 &&
      !(segment.discardedAt(position) <= cutoff)
    yield { names, starts, count, isLive }
  }
}

/** All names in the database, one page in memory. A name that is there from start to end is read once, whatever others write. */
export async function* databaseNames(
  database: Database,
  clock: Clock,
  pageSize = PAGE,
): AsyncGenerator<NameBlock> {
  let after = ''
  for (;;) {
    const query = namesAfter(after, pageSize, clock.now())
    const page = await database.scanner.first(query)
    if (page === undefined || page.last === null) return
    yield blockOf(page.names ?? '', page.visited)
    if (page.visited < pageSize) return
    after = page.last
  }
}

/** @param lines names separated by line feeds */
function blockOf(lines: string, maxCount: number): NameBlock {
  const names = Buffer.from(lines, 'latin1')
  const starts = new Uint32Array(maxCount + 1)
  let count = 0
  let to = 0
  for (const letter of names) {
    if (letter === LINE_FEED) starts[++count] = to
    else names[to++] = letter
  }
  if (to > 0) starts[++count] = to
  return { names, starts, count }
}
