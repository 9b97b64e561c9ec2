import { setTimeout as pause } from 'node:timers/promises'
import { Mutex } from '../../lib/mutex.ts'
import type { Shelves } from './answer.ts'
import { Builder } from './builder.ts'
import type { CatalogueOptions, CatalogueStats } from './catalogue-options.ts'
import { Unfit } from './draft.ts'
import { Follower } from './follower.ts'
import { Keeper, type Moment } from './keeper.ts'
import { partOf } from './merge.ts'
import { ORDERS, type Order } from './order.ts'
import { OwnWrites, type OwnRange } from './own-writes.ts'
import { readAll } from './read-all.ts'
import { locate, removeAlike } from './removals.ts'
import { Segment } from './segment.ts'
import { Shelf } from './shelf.ts'

const LOOK_MS = 4
const RETRY_MS = 2_000
/** Changes of the lists that wait for each other: a merge and what is followed. */
const MAX_CHANGES = 16
const CHANGE_TIMEOUT_MS = 30_000

/**
 * All records in memory, in the two orders that lists have. It is read once, then follows the log of changes. Whoever asks
 * gets it as of all that was committed before, or `undefined`: then the database answers.
 */
export class Catalogue {
  readonly #options: CatalogueOptions
  readonly #shelves: Readonly<Record<Order, Shelf>> = { registered: new Shelf(), deleted: new Shelf() }
  readonly #changes = new Mutex(MAX_CHANGES, CHANGE_TIMEOUT_MS)
  readonly #stopping = new AbortController()
  readonly #own = new OwnWrites()
  readonly #builder: Builder
  readonly #follower: Follower
  readonly #keeper: Keeper | undefined
  #isReady = false
  #loadSeconds = 0
  #isRestored = false
  #merging = false
  #isLoading = false

  constructor(options: CatalogueOptions) {
    this.#options = options
    this.#builder = new Builder(options.tasks)
    this.#follower = new Follower(
      options.database,
      this.#own,
      (texts, count, overlapping) => this.#apply(texts, count, overlapping),
      () => this.#shelves.registered.alive,
      (error) => this.#failed(error),
    )
    const { file } = options
    this.#keeper =
      file === undefined
        ? undefined
        : new Keeper({
            ...options,
            file,
            moment: () => this.#moment(),
            records: () => (this.#isReady ? this.#shelves.registered.alive : 0),
            isMerging: () => this.#merging,
          })
  }

  /** Begins to read the records. */
  start(): void {
    if (this.#options.memory === 0 || this.#isLoading) return
    this.#isLoading = true
    void this.#load().finally(() => (this.#isLoading = false))
  }

  async close(): Promise<void> {
    await this.#keeper?.close()
    this.#stop()
  }

  #stop(): void {
    this.#stopping.abort()
    this.#leave()
  }

  /** The lists where they are as of now already. */
  atHand(): Shelves | undefined {
    this.#own.asked()
    return this.#isReady && this.#follower.isCurrent ? this.#allShelves() : undefined
  }

  /** The lists as of all that was committed before the call; undefined where that would take too long. */
  async current(): Promise<Shelves | undefined> {
    this.#own.asked()
    if (!this.#isReady) return undefined
    const state = this.#follower.isCurrent ? 'current' : await this.#follower.catchUp()
    if (state === 'lost' && this.#isReady) this.#reload('the log of changes goes on elsewhere')
    if (state !== 'current' || !this.#isReady) return undefined
    return this.#allShelves()
  }

  #allShelves(): Shelves {
    return { registered: this.#shelves.registered.segments, deleted: this.#shelves.deleted.segments }
  }

  /**
   * Runs a transaction of this process, which marks its range of changes, and resolves when lists show what it wrote,
   * are known to be behind, or were asked for by nobody lately.
   */
  afterWriting<T>(write: (range: OwnRange) => Promise<T>): Promise<T> {
    return this.#own.run(write, async () => {
      if (this.#isReady) await this.#follower.catchUp()
    })
  }

  stats(): CatalogueStats {
    const { registered, deleted } = this.#shelves
    return {
      names: registered.alive,
      bytes: registered.bytes + deleted.bytes,
      segments: registered.segments.length + deleted.segments.length,
      ready: this.#isReady ? 1 : 0,
      loadSeconds: this.#loadSeconds,
      restored: this.#isRestored ? 1 : 0,
    }
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopping
    let keeper = this.#keeper
    while (!signal.aborted && !this.#isReady) {
      try {
        const start = performance.now()
        const isRestored = keeper !== undefined && (await this.#restore(keeper))
        if (!isRestored) {
          await this.#follower.begin()
          const isWanted = () => !signal.aborted && !this.#isOver()
          await readAll(this.#options.database, isWanted, (text, count) => this.#take(text, count))
        }
        this.#isRestored = isRestored
        this.#loadSeconds = (performance.now() - start) / 1000
        if (await this.#isFollowed(signal)) void this.#merge().then(() => this.#prepare())
        else if (isRestored && !signal.aborted) {
          await keeper?.forget()
          this.#leave()
        } else if (!signal.aborted) throw new Error('the log of changes goes on elsewhere')
      } catch (error) {
        this.#leave()
        this.#failed(error)
        await pause(RETRY_MS, undefined, { signal }).catch(() => {})
      }
      // What was of no use once is of none again.
      keeper = undefined
    }
  }

  /** Takes the lists from their file. @returns whether there are any now */
  async #restore(keeper: Keeper): Promise<boolean> {
    const snapshot = await keeper.restore()
    if (snapshot === undefined || this.#stopping.signal.aborted) return false
    for (const order of ORDERS) {
      this.#shelves[order].fill(snapshot.parts[order].map(({ columns, live }) => new Segment(columns, live)))
    }
    this.#follower.resume(snapshot.place.cursor)
    return true
  }

  /** Follows what was written since, or meanwhile, which may be there already. @returns whether all of it is now in the lists */
  async #isFollowed(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !this.#isOver()) {
      const state = await this.#follower.catchUp()
      if (state === 'lost') return false
      this.#isReady = state === 'current' && !signal.aborted
      if (this.#isReady) return true
      await pause(LOOK_MS, undefined, { signal })
    }
    return false
  }

  /** What came from the file, or was not merged. One after the other: nobody waits for it yet. */
  async #prepare(): Promise<void> {
    for (const order of ORDERS) {
      for (const { columns } of this.#shelves[order].segments) {
        if (this.#stopping.signal.aborted) return
        await this.#options.prepare(columns, order)
      }
    }
  }

  #moment(): Moment | undefined {
    const { place } = this.#follower
    if (!this.#isReady || place === undefined) return undefined
    const { registered, deleted } = this.#shelves
    return {
      cursor: place,
      parts: { registered: registered.segments.map(partOf), deleted: deleted.segments.map(partOf) },
    }
  }

  async #take(text: string, count: number): Promise<void> {
    const columns = await this.#builder.rows(text, count)
    for (const order of ORDERS) this.#shelves[order].change([], columns[order])
  }

  /** Switches itself off where it takes more memory than it may. */
  #isOver(): boolean {
    const { bytes } = this.stats()
    if (bytes <= this.#options.memory) return false
    this.#stop()
    this.#options.report(`the index of lists is off: it takes more than ${this.#options.memory} bytes`)
    return true
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    if (error instanceof Unfit) {
      this.#stop()
      this.#options.report('the index of lists is off: it cannot hold what the database holds', error)
    } else this.#options.report('the index of lists is behind', error)
  }

  #leave(): void {
    this.#isReady = false
    for (const order of ORDERS) this.#shelves[order].clear()
  }

  #reload(reason: string): void {
    this.#leave()
    this.#options.report(`the records are read anew for the lists: ${reason}`)
    this.start()
  }

  async #apply(texts: readonly string[], count: number, overlapping: boolean): Promise<void> {
    const delta = await this.#builder.changes(texts, count, overlapping)
    await this.#changes.run(async () => {
      const removed = {
        registered: await locate(this.#shelves.registered, delta.removed.registered),
        deleted: await locate(this.#shelves.deleted, delta.removed.deleted),
      }
      for (const order of ORDERS) this.#shelves[order].change(removed[order], delta.added[order])
      this.#follower.arrived()
      this.#keeper?.changed(count)
      if (this.#isReady && !this.#isOver()) void this.#merge()
    })
  }

  /** Merges until there is nothing to be merged. Lists go on with the old segments meanwhile. */
  async #merge(): Promise<void> {
    if (this.#merging) return
    this.#merging = true
    try {
      for (const order of ORDERS) {
        for (;;) {
          const old = this.#shelves[order].toMerge()
          if (old.length === 0 || this.#stopping.signal.aborted) break
          await this.#mergeOnce(order, old)
        }
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#merging = false
      this.#keeper?.changed(0)
    }
  }

  async #mergeOnce(order: Order, old: readonly Segment[]): Promise<void> {
    const parts = old.map(partOf)
    const columns = await this.#builder.merged(parts, order)
    await this.#options.prepare(columns, order)
    await this.#changes.run(async () => {
      const shelf = this.#shelves[order]
      // It was left, or read anew.
      if (!old.every((segment) => shelf.segments.includes(segment))) return
      const merged = new Segment(columns)
      for (const [i, segment] of old.entries()) {
        await removeAlike(merged, segment, parts[i]?.live ?? segment.live)
      }
      shelf.replace(old, merged)
      this.#keeper?.merged(merged.alive)
      this.#isOver()
    })
  }
}
