import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../../storage/database/database.ts'
import { digestOf } from './digest.ts'
import type { NameBlock } from './matcher.ts'
import { namesAfter } from './queries.ts'

/** Names read at a time: some milliseconds for the connection that scans share. */
const PAGE = 20_000

const LINE_FEED = 0x0a

/**
 * All names as the database has them, read anew each time, a page in memory. A name that is there all the while is seen
 * once, whatever others write.
 */
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

/** @param lines names, a line feed between each and the next */
function blockOf(lines: string, most: number): NameBlock {
  const names = Buffer.from(lines, 'latin1')
  const starts = new Uint32Array(most + 1)
  let count = 0
  let to = 0
  for (const letter of names) {
    if (letter === LINE_FEED) starts[++count] = to
    else names[to++] = letter
  }
  if (to > 0) starts[++count] = to
  return { names, starts, count, digest: digestOf(names, starts, count, 0) }
}
