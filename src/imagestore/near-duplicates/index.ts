import type { Clock } from '../../lib/clock.ts'
import { OverloadError } from '../../lib/errors.ts'
import { FairSlots } from '../../lib/fair-slots.ts'
import { taskModule, type Tasks } from '../../lib/tasks.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Database } from '../../storage/database/database.ts'
import { secondsOf } from '../lifetime.ts'
import type { ImageRow } from '../queries.ts'
import type { Input } from '../tasks/sort-hashes.ts'
import { AccountHashes, bytesFor, type Sort } from './account-hashes.ts'
import { parseDhash, type Dhash } from './dhash.ts'
import { FollowedImages } from './followed.ts'
import { Matches } from './matches.ts'
import * as queries from './queries.ts'
import { scan } from './scan.ts'
import type { SortedParts } from './sorted.ts'

const SORT_HASHES = taskModule('../tasks/sort-hashes', import.meta)

/** Hashes read at a time. */
const PAGE = 50_000
/** Hashes whose images are asked for in one statement. */
const BATCH = 200
/** How long a search waits for hashes to be read, and an upload that only counts. */
const SEARCH_WAIT_MS = 20_000
const COUNT_WAIT_MS = 2_000
/** Searches take processor time of the event loop in between: few at a time, and one for an application. */
const SEARCHES = { slots: 4, slotsPerClient: 1, maxWaiting: 256, maxWaitingPerClient: 128, timeoutMs: 20_000 }
/** What was asked for within this time is not pushed out of memory by another application, unless it is larger. */
const KEEP_MS = 60_000
/** At this distance an upload counts, up to this number. */
const COUNT_DISTANCE = 4
const MAX_COUNT = 1_000
/** Applications whose hashes are read when the service starts. */
const WARM = 1_000

export interface NearImage extends ImageRow {
  readonly distance: number
}

interface Entry {
  readonly hashes: AccountHashes
  /** While they are being read: what they will take. */
  expectedBytes: number
  readonly ready: Promise<void>
  isReady: boolean
  usedAt: number
}

/**
 * Images that look alike. The different hashes of each application are in memory, read once and then kept up to date by the
 * table of changes, as of each search: what was acknowledged is found, whichever process or node took it. Applications
 * for which there is no room are searched in the database, page by page.
 */
export class SimilarImages {
  readonly #database: Database
  readonly #clock: Clock
  readonly #maxBytes: number
  readonly #sort: Sort
  readonly #entries = new Map<number, Entry>()
  readonly #followed: FollowedImages
  readonly #searches = new FairSlots(SEARCHES)
  #isClosed = false

  /** @param maxBytes of memory for hashes */
  constructor(database: Database, tasks: Tasks, clock: Clock, maxBytes: number) {
    this.#database = database
    this.#clock = clock
    this.#maxBytes = maxBytes
    this.#sort = (hashes) => tasks.run<Input, SortedParts>(SORT_HASHES, { hashes })
    this.#followed = new FollowedImages(
      database,
      (accountId, dhash) => this.#entries.get(accountId)?.hashes.add(dhash),
      () => this.#entries.clear(),
    )
  }

  /** Bytes of memory that hashes take. */
  get bytes(): number {
    let sum = 0
    for (const { hashes } of this.#entries.values()) sum += hashes.bytes
    return sum
  }

  /**
   * An application's images that differ from a hash in at most so many bits: nearest first, then by their own hashes.
   * @throws OverloadError when its hashes cannot be read in time
   */
  async find(accountId: number, dhash: string, distance: number, limit: number): Promise<NearImage[]> {
    const found = await this.#matches(accountId, parseDhash(dhash), distance)
    const now = secondsOf(this.#clock)
    const images: NearImage[] = []
    for (const { distance: bits, dhashes } of found.byDistance()) {
      for (let at = 0; at < dhashes.length && images.length < limit; at += BATCH) {
        const some = dhashes.slice(at, at + BATCH)
        const left = limit - images.length
        const rows = await this.#database.all(
          queries.imagesWith(this.#database.dialect, accountId, some, now, left),
        )
        images.push(...rows.map((row) => ({ ...row, distance: bits })))
      }
    }
    return images
  }

  /** How many images beside this one look like it; undefined while that would take too long to find out. */
  async countBeside(accountId: number, hash: string, dhash: string): Promise<number | undefined> {
    const hashes = await this.#inMemory(accountId, COUNT_WAIT_MS)
    const found = await hashes?.find(parseDhash(dhash), COUNT_DISTANCE)
    if (found === undefined) return undefined
    const now = secondsOf(this.#clock)
    const dhashes = [...found.byDistance()].flatMap((near) => near.dhashes)
    let count = 0
    for (let at = 0; at < dhashes.length && count < MAX_COUNT; at += BATCH) {
      const some = dhashes.slice(at, at + BATCH)
      const row = await this.#database.first(
        queries.countWith(this.#database.dialect, accountId, some, hash, now, MAX_COUNT - count),
      )
      count += row?.count ?? 0
    }
    return count
  }

  /** Reads what fits, so that the first to search need not wait. */
  async warm(): Promise<void> {
    for (const { account_id } of await this.#database.scanner.all(queries.largestAccounts(WARM))) {
      if (this.#isClosed) return
      const bytes = await this.#bytesOf(account_id)
      if (this.bytes + bytes > this.#maxBytes) continue
      await this.#entryOf(account_id, bytes).ready
    }
  }

  /** Keeps up while nobody searches. */
  async advance(): Promise<void> {
    if (this.#entries.size === 0) return
    await this.#followed.advance()
    for (const { hashes, isReady } of this.#entries.values()) if (isReady) await hashes.settle()
  }

  close(): void {
    this.#isClosed = true
    this.#entries.clear()
  }

  #matches(accountId: number, query: Dhash, distance: number): Promise<Matches> {
    return this.#searches.run(String(accountId), () => this.#search(accountId, query, distance))
  }

  async #search(accountId: number, query: Dhash, distance: number): Promise<Matches> {
    const hashes = await this.#inMemory(accountId, SEARCH_WAIT_MS)
    if (hashes !== undefined) return hashes.find(query, distance)
    // They are still being read.
    if (this.#entries.has(accountId)) throw new OverloadError()
    const matches = new Matches(query, distance)
    for await (const page of this.#pages(accountId)) await scan(page, page.length / 2, matches)
    return matches
  }

  /** An application's hashes, with all that was stored by now; undefined when they do not fit or are not read in time. */
  async #inMemory(accountId: number, waitMs: number): Promise<AccountHashes | undefined> {
    const deadline = performance.now() + waitMs
    do {
      const entry = this.#entries.get(accountId) ?? (await this.#admitted(accountId))
      if (entry === undefined) return undefined
      entry.usedAt = performance.now()
      if (!entry.isReady && !(await withTimeout(entry.ready, deadline - performance.now()))) return undefined
      await this.#followed.look()
      // Unless it was found that changes are missing in it.
      if (this.#entries.get(accountId) === entry) return entry.hashes
    } while (performance.now() < deadline)
    return undefined
  }

  /**
   * Makes room for an application by leaving out those that were not asked for longest. Those in use stay, unless they are
   * larger: a large application must not push the small ones out each time that it searches.
   */
  async #admitted(accountId: number): Promise<Entry | undefined> {
    const bytes = await this.#bytesOf(accountId)
    const idleSince = performance.now() - KEEP_MS
    const removable = [...this.#entries]
      .filter(([, { isReady, usedAt, hashes }]) => isReady && (usedAt < idleSince || hashes.bytes > bytes))
      .sort(([, one], [, other]) => one.usedAt - other.usedAt)
    let free = this.#maxBytes
    for (const { hashes, expectedBytes } of this.#entries.values())
      free -= Math.max(hashes.bytes, expectedBytes)
    const removed: number[] = []
    for (const [other, { hashes, expectedBytes }] of removable) {
      if (bytes <= free) break
      free += Math.max(hashes.bytes, expectedBytes)
      removed.push(other)
    }
    if (bytes > free) return undefined
    for (const other of removed) this.#entries.delete(other)
    return this.#entryOf(accountId, bytes)
  }

  #entryOf(accountId: number, expectedBytes: number): Entry {
    const known = this.#entries.get(accountId)
    if (known !== undefined) return known
    const hashes = new AccountHashes(this.#sort)
    const ready = this.#read(accountId, hashes)
    const entry: Entry = { hashes, expectedBytes, ready, isReady: false, usedAt: 0 }
    this.#entries.set(accountId, entry)
    entry.ready.then(
      () => {
        entry.isReady = true
        entry.expectedBytes = 0
      },
      () => {
        if (this.#entries.get(accountId) === entry) this.#entries.delete(accountId)
      },
    )
    return entry
  }

  /** What is stored from now on is added by whoever looks; what is there is read. */
  async #read(accountId: number, hashes: AccountHashes): Promise<void> {
    await this.#followed.look()
    for await (const page of this.#pages(accountId)) {
      for (let i = 0; i < page.length; i += 2) hashes.add({ low: page[i] ?? 0, high: page[i + 1] ?? 0 })
    }
    await hashes.settle()
  }

  async *#pages(accountId: number): AsyncGenerator<Uint32Array> {
    const scanner = this.#database.scannerOf(accountId)
    for (let after = ''; ;) {
      const page = await scanner.first(queries.hashesBehind(accountId, after, PAGE))
      if (page === undefined || page.packed === null || page.last === null || this.#isClosed) return
      yield unpacked(page.packed)
      if (page.count < PAGE) return
      after = page.last
    }
  }

  async #bytesOf(accountId: number): Promise<number> {
    return bytesFor(await this.#imageCount(accountId))
  }

  async #imageCount(accountId: number): Promise<number> {
    return (await this.#database.first(queries.imageCount(accountId)))?.images ?? 0
  }
}

/** @param packed hashes of 16 hex digits, one after the other */
function unpacked(packed: string): Uint32Array {
  const halves = new Uint32Array(packed.length / 8)
  for (let at = 0, i = 0; at < packed.length; at += 16, i += 2) {
    const { low, high } = parseDhash(packed, at)
    halves[i] = low
    halves[i + 1] = high
  }
  return halves
}
