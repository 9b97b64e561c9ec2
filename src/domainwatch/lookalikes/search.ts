import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.ts'
import { OverloadError } from '../../lib/errors.ts'
import { Gate } from '../../lib/gate.ts'
import {
  BestMatches,
  explain,
  Matcher,
  type Change,
  type Match,
  type NameBlock,
  type Vocabulary,
} from '../../lib/lookalikes/index.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import { accountClient } from '../../lib/client.ts'
import { VersionedCache } from '../../storage/database/versioned-cache.ts'
import { rowsToJson } from '../list/page-json.ts'
import { rowsOfNames } from '../list/queries.ts'
import type { Segment } from '../../lib/name-index/index.ts'
import { expiryCutoff } from '../limits.ts'
import type { NameIndex } from '../list/name-index.ts'
import { namesAfter } from '../queries-records.ts'

/** One search runs at a time, on part of a core, while other requests are answered. */
const SEARCHES = { running: 1, waiting: 64, waitMs: 10_000 }
/** Maximum duration: without the index, ten million names are read from the database for each search, about 20 s. */
const MAX_MS = 60_000
/** How long a search blocks the event loop before it yields. */
const STRETCH_MS = 4
/** Records read and explained between two turns of the event loop: about 3 ms. */
const CHUNK = 64
/** Names read at a time: some milliseconds for the connection that scans share. */
const PAGE = 20_000
const LINE_FEED = 0x0a
/** Rankings cached until the next write: a hundred with at most 1,024 names take about 10 MB. */
const MAX_CACHED = 100

export interface Lookalikes {
  /** A JSON array of records. */
  readonly json: string
  readonly count: number
}

interface Ranking {
  readonly matches: readonly Match[]
  readonly isCut: boolean
}

/**
 * Reads all recorded names that have not expired.
 * @param account whose search it is
 * @param signal ends the reading
 */
export type ReadNames = (account?: number, signal?: AbortSignal) => AsyncIterable<NameBlock>

/** Finds recorded names that resemble a given one. */
export class LookalikeSearch {
  readonly #database: Database
  readonly #clock: Clock
  readonly #names: ReadNames
  readonly #vocabulary: Vocabulary
  readonly #maxMs: number
  readonly #gate = new Gate(SEARCHES)
  readonly #rankings: VersionedCache<Ranking>

  /** @param maxMs maximum duration of a search */
  constructor(database: Database, clock: Clock, names: ReadNames, vocabulary: Vocabulary, maxMs = MAX_MS) {
    this.#database = database
    this.#clock = clock
    this.#names = names
    this.#vocabulary = vocabulary
    this.#maxMs = maxMs
    this.#rankings = new VersionedCache(database, 'domain', MAX_CACHED)
  }

  /**
   * Returns the names that resemble this one most, best first, ties by name.
   * @param signal ends the search
   * @throws OverloadError if too many searches wait, or this one takes too long
   */
  async find(name: string, limit: number, account?: number, signal?: AbortSignal): Promise<Lookalikes> {
    const matcher = new Matcher(name, this.#vocabulary)
    const client = accountClient(account)
    const rank = () => this.#rank(matcher, limit, account, signal)
    const cached = await this.#rankings.get(`${limit} ${name}`, rank)
    const reader = this.#database.readerOf(client)
    const found = await this.#read(reader, matcher, name, cached)
    // Records that expired since the ranking was made leave room for others.
    const isShort = cached.isCut && found.count < limit
    return isShort ? this.#read(reader, matcher, name, await rank()) : found
  }

  #rank(
    matcher: Matcher,
    limit: number,
    account: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Ranking> {
    const work = async () => {
      const best = new BestMatches(limit)
      let since = performance.now()
      const shouldPause = () => performance.now() - since > STRETCH_MS
      const deadline = since + this.#maxMs
      for await (const block of this.#names(account, signal)) {
        if (performance.now() > deadline) throw new OverloadError()
        for (let at: number | undefined = 0; at !== undefined;) {
          at = matcher.scan(block, at, best.add, shouldPause)
          if (!shouldPause()) continue
          await nextTurn()
          signal?.throwIfAborted()
          since = performance.now()
        }
      }
      return best.result()
    }
    return this.#gate.run(accountClient(account), work, signal)
  }

  async #read(reader: Reader, matcher: Matcher, name: string, { matches }: Ranking): Promise<Lookalikes> {
    const now = this.#clock.now()
    const records: string[] = []
    for (let from = 0; from < matches.length; from += CHUNK) {
      const part = matches.slice(from, from + CHUNK)
      const names = part.map((match) => match.name)
      const rows = await reader.values(rowsOfNames(this.#database.dialect, { filters: {}, now }, names))
      const rowOf = new Map(rows.map((row) => [row[0], row]))
      if (from > 0) await nextTurn()
      for (const { name: other, cost } of part) {
        const row = rowOf.get(other)
        if (row === undefined) continue
        const reason = reasonJson(explain(matcher, name, other), scoreOf(name, cost))
        records.push(`${rowsToJson([row]).slice(1, -2)},${reason}}`)
      }
    }
    return { json: `[${records.join(',')}]`, count: records.length }
  }
}

/** Returns a score from 1, for names that look the same, down to 0. */
function scoreOf(name: string, cost: number): number {
  return Math.round(1000 / (1 + cost / (10 * name.length))) / 1000
}

/** Returns the members `reason` (of the most expensive change), `detail` and `score`. */
function reasonJson(changes: readonly Change[], score: number): string {
  const main = changes.reduce((most, change) => (change.cost > most.cost ? change : most))
  const detail = JSON.stringify(changes.map(({ text }) => text).join(', '))
  return `"reason":"${main.reason}","detail":${detail},"score":${score}`
}

/** Reads all names that are recorded now: from memory if the index holds all records, otherwise from the database. */
export async function* recordedNames(
  database: Database,
  clock: Clock,
  nameIndex: Pick<NameIndex, 'current'>,
  account?: number,
  signal?: AbortSignal,
): AsyncGenerator<NameBlock> {
  const segments = await nameIndex.current()
  if (segments === undefined) yield* databaseNames(database.scannerOf(account, signal), clock)
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
    yield { names, starts, count, isLive, namesWith: (letter) => segment.letterPlane(letter) }
  }
}

/** All names in the database, one page in memory. A name that is there from start to end is read once, whatever others write. */
export async function* databaseNames(
  scanner: Reader,
  clock: Clock,
  pageSize = PAGE,
): AsyncGenerator<NameBlock> {
  let after = ''
  for (;;) {
    const query = namesAfter(after, pageSize, clock.now())
    const page = await scanner.first(query)
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
