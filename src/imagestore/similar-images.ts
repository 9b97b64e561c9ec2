import { LRUCache } from 'lru-cache'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { OverloadError } from '../lib/errors.ts'
import { accountClient } from '../lib/client.ts'
import type { Gate } from '../lib/gate.ts'
import {
  estimateBytes,
  HashList,
  isFlatHash,
  Matches,
  parseHash64,
  scan,
  unpackHashes,
  type Hash64,
} from '../lib/perceptual-hash/index.ts'
import { withTimeout } from '../lib/concurrency.ts'
import { Follower } from '../storage/database/changes/follower.ts'
import type { Database } from '../storage/database/database.ts'
import type { ImageRow } from './image-fields.ts'
import * as queries from './queries.ts'

const PAGE = 50_000
/** Hashes whose images are read in one query. */
const BATCH = 200
/** Longest wait of a search, and of an upload that only counts, until hashes are loaded. */
const SEARCH_WAIT_MS = 20_000
const COUNT_WAIT_MS = 2_000
/** Uploads report the number of images within this distance, up to a maximum. */
export const COUNT_DISTANCE_BITS = 4
export const MAX_COUNTED_IMAGES = 1_000

export interface NearImage extends ImageRow {
  readonly distance: number
}

interface Entry {
  readonly hashes: HashList
  /** Memory for them, which is charged before they are loaded. */
  readonly bytes: number
  readonly ready: Promise<void>
  isReady: boolean
}

/**
 * Finds images that look alike; pictures without contrast resemble none, because they all have one hash. The distinct hashes
 * of each application are held in memory, loaded when one searches or uploads, and updated from the change log before each search:
 * every acknowledged upload is found, whichever process or node took it. The least recently used applications make room. One that does
 * not fit in memory alone is searched in the database, page by page. Hashes of deleted images stay in memory, because
 * results are read from the database anyway.
 */
export class SimilarImages {
  readonly #database: Database
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #entries: LRUCache<number, Entry>
  readonly #follower: Follower
  #beginning: Promise<void> | undefined
  readonly #searches: Gate
  #isClosed = false

  /** @param maxBytes memory for hashes */
  constructor(database: Database, clock: Clock, maxBytes: number, searches: Gate) {
    this.#database = database
    this.#clock = clock
    this.#maxBytes = maxBytes
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }) => bytes })
    this.#searches = searches
    this.#follower = new Follower({
      log: database.changes,
      scanner: database.scanner,
      selection: queries.storedImages,
      apply: async (text, _count, _isOverlapping, applied) => {
        const images: [number, string][] = JSON.parse(`[${text}]`)
        for (const [accountId, dhash] of images) this.#entries.peek(accountId)?.hashes.add(parseHash64(dhash))
        applied()
      },
    })
  }

  get bytes(): number {
    return this.#entries.calculatedSize
  }

  /**
   * Finds an application's images whose hashes differ from `dhash` in at most `distance` bits: nearest first, then by hash.
   * @param signal ends the search
   * @throws OverloadError if its hashes cannot be loaded in time
   */
  async find(
    accountId: number,
    dhash: string,
    distance: number,
    limit: number,
    signal: AbortSignal,
  ): Promise<NearImage[]> {
    if (isFlatHash(dhash)) return []
    const query = parseHash64(dhash)
    const search = () => this.#search(accountId, query, distance, signal)
    const found = await this.#searches.run(accountClient(accountId), search, signal)
    const now = secondsOf(this.#clock)
    const images: NearImage[] = []
    for (const { distance: bits, batch } of batchesIn(found)) {
      const left = limit - images.length
      if (left <= 0) break
      signal.throwIfAborted()
      const { dialect } = this.#database
      const rows = await this.#database.all(queries.imagesWith(dialect, accountId, batch, now, left))
      images.push(...rows.map((row) => ({ ...row, distance: bits })))
    }
    return images
  }

  /** Counts the images similar to this one, without itself. Undefined if that would take too long. */
  async countSimilar(accountId: number, hash: string, dhash: string): Promise<number | undefined> {
    if (isFlatHash(dhash)) return 0
    const hashes = await this.#loaded(accountId, COUNT_WAIT_MS)
    const found = await hashes?.find(parseHash64(dhash), COUNT_DISTANCE_BITS)
    if (found === undefined) return undefined
    const now = secondsOf(this.#clock)
    let count = 0
    for (const { batch } of batchesIn(found)) {
      const left = MAX_COUNTED_IMAGES - count
      if (left <= 0) break
      const { dialect } = this.#database
      const row = await this.#database.first(queries.countWith(dialect, accountId, batch, hash, now, left))
      count += row?.count ?? 0
    }
    return count
  }

  close(): void {
    this.#isClosed = true
    this.#entries.clear()
  }

  async #search(accountId: number, query: Hash64, distance: number, signal: AbortSignal): Promise<Matches> {
    const hashes = await this.#loaded(accountId, SEARCH_WAIT_MS)
    if (hashes !== undefined) return hashes.find(query, distance)
    // Still being loaded.
    if (this.#entries.has(accountId)) throw new OverloadError()
    const matches = new Matches(query, distance)
    for await (const page of this.#pages(accountId, signal)) await scan(page, page.length / 2, matches)
    return matches
  }

  /** An application's hashes, up to date; undefined if they do not fit in memory or are not loaded in time. */
  async #loaded(accountId: number, waitMs: number): Promise<HashList | undefined> {
    const deadline = performance.now() + waitMs
    do {
      const entry = this.#entries.get(accountId) ?? (await this.#load(accountId))
      if (entry === undefined) return undefined
      if (!entry.isReady && !(await withTimeout(entry.ready, deadline - performance.now()))) return undefined
      await this.#catchUp()
      // What was stored since may be the same hashes again and again, so they are loaded once more.
      if (entry.hashes.bytes > entry.bytes) this.#entries.delete(accountId)
      // Otherwise changes are lost, and the entry is invalid.
      else if (this.#entries.peek(accountId) === entry) return entry.hashes
    } while (performance.now() < deadline)
    return undefined
  }

  /** Adds everything stored before the call. Forgets all hashes if changes may have been missed. */
  async #catchUp(): Promise<void> {
    if (this.#follower.seen === undefined) {
      this.#beginning ??= this.#follower.begin().finally(() => (this.#beginning = undefined))
      await this.#beginning
    }
    if ((await this.#follower.catchUp()) === 'lost') this.#entries.clear()
  }

  /** Begins to load an application's hashes. Undefined if they do not fit in memory. */
  async #load(accountId: number): Promise<Entry | undefined> {
    const row = await this.#database.first(queries.imageCount(accountId))
    const bytes = estimateBytes(row?.images ?? 0)
    const known = this.#entries.get(accountId)
    if (known !== undefined || bytes > this.#maxBytes) return known
    const hashes = new HashList()
    const entry: Entry = { hashes, bytes, ready: this.#readAll(accountId, hashes), isReady: false }
    this.#entries.set(accountId, entry)
    entry.ready.then(
      () => (entry.isReady = true),
      () => {
        if (this.#entries.peek(accountId) === entry) this.#entries.delete(accountId)
      },
    )
    return entry
  }

  /** Reads the stored hashes. The follower adds those that are stored from now on. */
  async #readAll(accountId: number, hashes: HashList): Promise<void> {
    await this.#catchUp()
    for await (const page of this.#pages(accountId)) {
      for (let i = 0; i < page.length; i += 2) hashes.add({ low: page[i] ?? 0, high: page[i + 1] ?? 0 })
    }
  }

  async *#pages(accountId: number, signal?: AbortSignal): AsyncGenerator<Uint32Array> {
    const scanner = this.#database.scannerOf(accountId, signal)
    for (let after = ''; ;) {
      const page = await scanner.first(queries.hashesAfter(accountId, after, PAGE))
      if (page === undefined || page.packed === null || page.last === null || this.#isClosed) return
      yield unpackHashes(page.packed)
      if (page.count < PAGE) return
      after = page.last
    }
  }
}

/** Hashes in batches, nearest first, without that of pictures without contrast. */
function* batchesIn(found: Matches) {
  for (const { distance, hashes: all } of found.byDistance()) {
    const hashes = all.filter((hash) => !isFlatHash(hash))
    for (let at = 0; at < hashes.length; at += BATCH) yield { distance, batch: hashes.slice(at, at + BATCH) }
  }
}
