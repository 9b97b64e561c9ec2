import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { Mutex } from '../../core/queue.ts'
import { taskModule, type Tasks } from '../../core/tasks.ts'
import type { Database } from '../../database/database.ts'
import { recordsAsText } from '../queries.ts'
import type { Input, Output } from '../tasks/build-columns.ts'
import type { Hit, Shelves } from './answer.ts'
import type { Columns } from './columns.ts'
import { Unfit } from './draft.ts'
import { Follower } from './follower.ts'
import { ORDERS, type Order } from './order.ts'
import { OwnWrites, type OwnRange } from './own-writes.ts'
import { readChanges, type Delta, type Places } from './read-changes.ts'
import { Segment } from './segment.ts'
import { Shelf } from './shelf.ts'

const BUILD_COLUMNS = taskModule('../tasks/build-columns', import.meta)

/** Records read at a time at the start: some 80 ms for the connection that others wait for, and 8 MB of text. */
const CHUNK = 65_536
/** Chunks in work at a time. */
const CHUNKS_AT_ONCE = 2
/** Up to so many changes are applied at once, in some milliseconds; more are prepared in another thread. */
const SMALL_DELTA = 300
/** Work on the event loop is cut into slices of this length. */
const SLICE_MS = 4
/** Looks at the clock come between so many records. */
const SLICE_RECORDS = 256
const RETRY_MS = 2_000
/** Changes of the lists that wait for each other: a merge and what is followed. */
const MAX_CHANGES = 16
const CHANGE_TIMEOUT_MS = 30_000

export interface CatalogueOptions {
  readonly database: Database
  readonly tasks: Tasks
  /** Bytes it may take; 0 for no catalogue at all. A merge takes as much again for a while. */
  readonly memory: number
  /** Told of columns that lists will be answered from and that are likely to stay: waited for before they are. */
  readonly prepare: (columns: Columns, order: Order) => Promise<unknown>
  /** Told of trouble that only makes lists slower. */
  readonly report: (message: string, error?: unknown) => void
}

/** What there is to say of it to operators. */
export interface CatalogueStats {
  readonly names: number
  readonly bytes: number
  readonly segments: number
  /** 1 when lists are answered from it. */
  readonly ready: number
  /** Seconds that the last reading of all records took. */
  readonly loadSeconds: number
}

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
  readonly #follower: Follower
  #isReady = false
  #loadSeconds = 0
  #merging = false
  #isLoading = false

  constructor(options: CatalogueOptions) {
    this.#options = options
    this.#follower = new Follower(
      options.database,
      this.#own,
      (texts, count, overlapping) => this.#apply(texts, count, overlapping),
      (error) => this.#failed(error),
    )
  }

  /** Begins to read the records. */
  start(): void {
    if (this.#options.memory === 0 || this.#isLoading) return
    this.#isLoading = true
    void this.#load().finally(() => (this.#isLoading = false))
  }

  close(): void {
    this.#stopping.abort()
    this.#leave()
  }

  /** The lists as of all that was committed before the call; undefined where that would take too long. */
  async current(): Promise<Shelves | undefined> {
    if (!this.#isReady) return undefined
    const state = this.#follower.isCurrent ? 'current' : await this.#follower.catchUp()
    if (state === 'lost' && this.#isReady) this.#reload('the log of changes goes on elsewhere')
    if (state !== 'current' || !this.#isReady) return undefined
    return { registered: this.#shelves.registered.segments, deleted: this.#shelves.deleted.segments }
  }

  /**
   * Runs a transaction of this process, which marks its range of changes, and resolves when lists show what it wrote or
   * are known to be behind.
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
    }
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#isReady) {
      try {
        const start = performance.now()
        await this.#follower.begin()
        await this.#read(signal)
        this.#loadSeconds = (performance.now() - start) / 1000
        // What was written meanwhile may be in it already, or not.
        while (!signal.aborted && !this.#isReady && !this.#isOver()) {
          const state = await this.#follower.catchUp()
          if (state === 'lost') throw new Error('the log of changes goes on elsewhere')
          this.#isReady = state === 'current' && !signal.aborted
          if (state === 'behind') await pause(SLICE_MS, undefined, { signal })
        }
        void this.#merge()
        return
      } catch (error) {
        this.#leave()
        this.#failed(error)
        await pause(RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { database } = this.#options
    const building = new Set<Promise<void>>()
    for (let after = ''; !signal.aborted;) {
      const chunk = await database.scanner.first(recordsAsText(database.dialect, after, CHUNK))
      if (chunk === undefined || chunk.last === null || chunk.text === null) break
      const { text, count } = chunk
      const build = this.#build({ kind: 'rows', text, count }).then((built) => {
        if (built.kind !== 'rows') return
        for (const order of ORDERS) this.#shelves[order].change([], built.columns[order])
        building.delete(build)
      })
      building.add(build)
      // Rejections are met when it is waited for.
      build.catch(() => {})
      if (building.size >= CHUNKS_AT_ONCE) await Promise.race(building)
      if (count < CHUNK || this.#isOver()) break
      after = chunk.last
    }
    await Promise.all(building)
  }

  /** @throws Unfit */
  async #build(input: Input): Promise<Output> {
    const output = await this.#options.tasks.run<Input, Output>(BUILD_COLUMNS, input)
    if (output.kind === 'unfit') throw new Unfit(output.reason)
    return output
  }

  /** Switches itself off where it takes more memory than it may. */
  #isOver(): boolean {
    const { bytes } = this.stats()
    if (bytes <= this.#options.memory) return false
    this.close()
    this.#options.report(`the index of lists is off: it takes more than ${this.#options.memory} bytes`)
    return true
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    if (error instanceof Unfit) {
      this.close()
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
    const delta = await this.#delta(texts, count, overlapping)
    await this.#changes.run(async () => {
      const removed = {
        registered: await this.#locate('registered', delta.removed.registered),
        deleted: await this.#locate('deleted', delta.removed.deleted),
      }
      for (const order of ORDERS) this.#shelves[order].change(removed[order], delta.added[order])
      this.#follower.arrived()
      if (this.#isReady && !this.#isOver()) void this.#merge()
    })
  }

  async #delta(texts: readonly string[], count: number, overlapping: boolean): Promise<Delta> {
    if (count <= SMALL_DELTA) return readChanges(texts, overlapping)
    const built = await this.#build({ kind: 'changes', texts, overlapping })
    if (built.kind !== 'changes') throw new Error('built something else')
    return built.delta
  }

  async #locate(order: Order, { names, keys }: Places): Promise<Hit[]> {
    const found: Hit[] = []
    const slice = new Slice()
    for (const [i, name] of names.entries()) {
      const hit = this.#shelves[order].find({
        key: keys[i] ?? 0,
        name: new Uint8Array(Buffer.from(name, 'latin1')),
      })
      if (hit !== undefined) found.push(hit)
      if (i % SLICE_RECORDS === 0) await slice.end()
    }
    return found
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
    }
  }

  async #mergeOnce(order: Order, old: readonly Segment[]): Promise<void> {
    const parts = old.map(({ columns, live }) => ({ columns, live: live.slice() }))
    const built = await this.#build({ kind: 'merge', parts, order })
    if (built.kind !== 'merge') return
    await this.#options.prepare(built.columns, order)
    await this.#changes.run(async () => {
      const shelf = this.#shelves[order]
      // It was left, or read anew.
      if (!old.every((segment) => shelf.segments.includes(segment))) return
      const merged = new Segment(built.columns)
      const slice = new Slice()
      for (const [i, segment] of old.entries()) {
        await removeAlike(merged, segment, parts[i]?.live ?? segment.live, slice)
      }
      shelf.replace(old, merged)
      this.#isOver()
    })
  }
}

/** Takes out of the merged segment what was taken out of the old one since it was `before`. */
async function removeAlike(merged: Segment, old: Segment, before: Uint32Array, slice: Slice): Promise<void> {
  for (const [word, bits] of before.entries()) {
    const gone = bits & ~(old.live[word] ?? 0)
    if (gone === 0) continue
    for (let bit = 0; bit < 32; bit++) {
      if ((gone & (1 << bit)) === 0) continue
      const position = (word << 5) + bit
      merged.remove(merged.find({ key: old.columns.keys[position] ?? 0, name: old.nameOf(position) }))
    }
    await slice.end()
  }
}

/** Lets others have the event loop when a slice of time is over. */
class Slice {
  #end = performance.now() + SLICE_MS

  async end(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#end = performance.now() + SLICE_MS
  }
}
