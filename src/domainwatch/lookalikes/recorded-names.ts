import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { SIGNATURE_WORDS, signaturesOf, type NameBlock } from '../../lib/lookalikes/index.ts'
import type { Columns, Segment } from '../../lib/name-index/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { goneBefore } from '../limits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { namesAfter } from './queries.ts'

/** Names read at a time: some milliseconds for the connection that scans share. */
const PAGE = 20_000
/** Names whose signatures are computed between two turns of the event loop: about a millisecond. */
const SLICE = 16_384

const LINE_FEED = 0x0a

/** Signatures of the names in columns, computed once and kept as long as the columns: 12 bytes per record. */
export class SignatureCache {
  readonly #known = new WeakMap<Columns, Promise<Uint32Array>>()

  of(columns: Columns): Promise<Uint32Array> {
    const known = this.#known.get(columns)
    if (known !== undefined) return known
    const signatures = computeSignatures(columns)
    this.#known.set(columns, signatures)
    return signatures
  }
}

async function computeSignatures({ names, starts, count }: Columns): Promise<Uint32Array> {
  const signatures = new Uint32Array(count * SIGNATURE_WORDS)
  for (let from = 0; from < count; from += SLICE) {
    if (from > 0) await nextTurn()
    const part = signaturesOf(names, starts, from, Math.min(count, from + SLICE))
    signatures.set(part, from * SIGNATURE_WORDS)
  }
  return signatures
}

/** Reads all names that are recorded now: from memory if the index holds all records, otherwise from the database. */
export async function* recordedNames(
  database: Database,
  clock: Clock,
  nameIndex: Pick<NameIndex, 'current'>,
  signatures: SignatureCache,
): AsyncGenerator<NameBlock> {
  const segments = await nameIndex.current()
  if (segments === undefined) yield* databaseNames(database, clock)
  else yield* indexedNames(segments.registered, signatures, clock.now())
}

/** All names of these segments as of the call: later changes have no effect. */
async function* indexedNames(
  segments: readonly Segment[],
  signatures: SignatureCache,
  now: number,
): AsyncGenerator<NameBlock> {
  const gone = goneBefore(now)
  const snapshots = segments.map((segment) => ({ segment, live: segment.live.slice() }))
  for (const { segment, live } of snapshots) {
    const { names, starts, count } = segment.columns
    const isLive = (position: number) =>
      ((live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0 && !(segment.discardedAt(position) <= gone)
    yield { names, starts, count, signatures: await signatures.of(segment.columns), isLive }
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
  return { names, starts, count, signatures: signaturesOf(names, starts, 0, count) }
}
