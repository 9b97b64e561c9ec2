import type { Database } from '../../storage/database/database.ts'
import { recordsAsText } from '../queries.ts'

/** Records read at a time: some 80 ms for the connection that others wait for, and 8 MB of text. */
const CHUNK = 65_536
/** Chunks in work at a time. */
const CHUNKS_AT_ONCE = 2

/** Reads all records, in the form of `recordsAsText`, for as long as it is wanted. What `take` makes of them may take time. */
export async function readAll(
  database: Database,
  isWanted: () => boolean,
  take: (text: string, count: number) => Promise<void>,
): Promise<void> {
  const taking = new Set<Promise<void>>()
  for (let after = ''; isWanted();) {
    const chunk = await database.scanner.first(recordsAsText(database.dialect, after, CHUNK))
    if (chunk === undefined || chunk.last === null || chunk.text === null) break
    const taken = take(chunk.text, chunk.count).then(() => void taking.delete(taken))
    taking.add(taken)
    // Rejections are met when it is waited for.
    taken.catch(() => {})
    if (taking.size >= CHUNKS_AT_ONCE) await Promise.race(taking)
    if (chunk.count < CHUNK) break
    after = chunk.last
  }
  await Promise.all(taking)
}
