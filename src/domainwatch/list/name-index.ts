import { setTimeout as pause } from 'node:timers/promises'
import {
  ORDERS,
  partOf,
  Segment,
  SegmentSet,
  UnsupportedValueError,
  type Order,
} from '../../lib/name-index/index.ts'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import { Gate } from '../../lib/gate.ts'
import type { Tasks } from '../../lib/tasks.ts'
import type { Database } from '../../storage/database/database.ts'
import { ChangeFollower, type CatchUpResult, ReadYourWrites, type WriteRange } from './change-follower.ts'
import { IndexBuilder, readAllRecords } from './index-builder.ts'
import type { IndexFile } from '../tasks/snapshot-file.ts'
import type { IndexSegments } from './index-page.ts'
import { IndexPersistence, type IndexState } from './index-persistence.ts'
import type { Dictionary } from '../words/dictionary.ts'

const POLL_MS = 4
const RETRY_MS = 2_000
/** Texts of records that are built into columns at a time. */
const MAX_TEXTS_IN_WORK = 2
/** Queued changes of the segments: merges, and applied changes. */
const MAX_WAITING = 16
const WAIT_MS = 30_000

export interface NameIndexOptions {
  readonly database: Database
  readonly tasks: Tasks
  /** The words that names are split into. */
  readonly dictionary: Dictionary
  /** Maximum memory in bytes; 0 disables the index. A merge temporarily takes the same amount again. */
  readonly memory: number
  /** Where it is stored for the next start. */
  readonly file?: IndexFile
  /** Reports problems that only make lists slower. */
  readonly report: (message: string, error?: unknown) => void
}

/** For metrics. */
export interface NameIndexStats {
  readonly names: number
  readonly bytes: number
  readonly segments: number
  /** 1 if lists are answered from it. */
  readonly ready: number
  /** Duration of the last load of all records, in seconds. */
  readonly loadSeconds: number
  /** 1 if that was from the file. */
  readonly restored: number
}

export interface LatestSegments {
  readonly segments: IndexSegments
  /** All changes up to this one are applied, and none after it. */
  readonly changeId: number
}

/**
 * All records in memory, in the two orders that lists have. It is loaded once, then follows the log of changes.
 * Readers see everything committed before their call, or get `undefined` and ask the database.
 */
export class NameIndex {
  readonly #options: NameIndexOptions
  readonly #sets: Readonly<Record<Order, SegmentSet>> = {
    registered: new SegmentSet(),
    deleted: new SegmentSet(),
  }
  readonly #updates = new Gate({ running: 1, waiting: MAX_WAITING, waitMs: WAIT_MS })
  readonly #stopping = new AbortController()
  readonly #writes = new ReadYourWrites()
  readonly #builder: IndexBuilder
  readonly #follower: ChangeFollower
  readonly #persistence: IndexPersistence | undefined
  #isReady = false
  #loadSeconds = 0
  #isRestored = false
  #isLoading = false
  #isMerging = false

  constructor(options: NameIndexOptions) {
    this.#options = options
    this.#builder = new IndexBuilder(options.tasks, options.dictionary)
    this.#follower = new ChangeFollower({
      database: options.database,
      writes: this.#writes,
      apply: (texts, count, overlapping) => this.#apply(texts, count, overlapping),
      records: () => this.#sets.registered.liveCount,
      signal: this.#stopping.signal,
      report: (error) => this.#failed(error),
    })
    const { file } = options
    this.#persistence =
      file === undefined
        ? undefined
        : new IndexPersistence({
            ...options,
            file,
            state: () => this.#state(),
            records: () => (this.#isReady ? this.#sets.registered.liveCount : 0),
          })
  }

  /** Starts to load the records. */
  start(): void {
    if (this.#options.memory === 0 || this.#isLoading) return
    this.#isLoading = true
    void this.#load().finally(() => (this.#isLoading = false))
  }

  async close(): Promise<void> {
    await this.#persistence?.close()
    this.#stop()
  }

  #stop(): void {
    this.#stopping.abort()
    this.#unload()
  }

  /** Returns segments with everything committed before the call; undefined if that would take too long. */
  async current(): Promise<IndexSegments | undefined> {
    this.#writes.noteRead()
    if (!this.#isReady) return undefined
    const result = this.#follower.isCurrent ? 'current' : await this.#catchUp()
    if (result !== 'current' || !this.#isReady) return undefined
    return this.#segments()
  }

  /** Returns the current segments, and the id of the last change in them. Later changes may be committed already. */
  latest(): LatestSegments | undefined {
    return this.#isReady ? { segments: this.#segments(), changeId: this.#follower.appliedId } : undefined
  }

  /** Applies everything committed so far, for `latest`. */
  async advance(): Promise<void> {
    if (this.#isReady && !this.#follower.isCurrent) await this.#catchUp()
  }

  /** The same, and moves the id of `latest` past changes that are not of records. Takes about a second at most. */
  async catchUp(): Promise<void> {
    if (this.#isReady) await this.#catchUp()
  }

  async #catchUp(): Promise<CatchUpResult> {
    const result = await this.#follower.catchUp()
    if (result === 'lost' && this.#isReady) this.#reload('the change log was replaced')
    return result
  }

  #segments(): IndexSegments {
    return { registered: this.#sets.registered.segments, deleted: this.#sets.deleted.segments }
  }

  /**
   * Runs a transaction of this process, which marks its range of changes. Resolves when lists show what it wrote, when they are
   * known to be behind, or immediately if no list was requested recently.
   */
  afterWriting<T>(write: (range: WriteRange) => Promise<T>): Promise<T> {
    return this.#writes.run(write, async () => {
      if (this.#isReady) await this.#follower.catchUp()
    })
  }

  stats(): NameIndexStats {
    const { registered, deleted } = this.#sets
    return {
      names: registered.liveCount,
      bytes: registered.bytes + deleted.bytes,
      segments: registered.segments.length + deleted.segments.length,
      ready: this.#isReady ? 1 : 0,
      loadSeconds: this.#loadSeconds,
      restored: this.#isRestored ? 1 : 0,
    }
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopping
    let persistence = this.#persistence
    while (!signal.aborted && !this.#isReady) {
      try {
        const start = performance.now()
        const isRestored = persistence !== undefined && (await this.#restore(persistence))
        if (!isRestored) {
          await this.#follower.begin()
          const isWanted = () => !signal.aborted && !this.#isOverLimit()
          const texts = readAllRecords(this.#options.database, isWanted)
          await forEachConcurrent(texts, MAX_TEXTS_IN_WORK, async (text) => {
            const columns = await this.#builder.records(text)
            for (const order of ORDERS) this.#sets[order].change([], columns[order])
          })
        }
        this.#isRestored = isRestored
        this.#loadSeconds = (performance.now() - start) / 1000
        if (await this.#catchUpAfterLoad(signal)) void this.#merge()
        else if (isRestored && !signal.aborted) {
          await persistence?.forget()
          this.#unload()
        } else if (!signal.aborted) throw new Error('the change log was replaced')
      } catch (error) {
        this.#unload()
        this.#failed(error)
        await pause(RETRY_MS, undefined, { signal }).catch(() => {})
      }
      // A useless file is not tried again.
      persistence = undefined
    }
  }

  /** Loads the segments from their file. @returns whether there are any now */
  async #restore(persistence: IndexPersistence): Promise<boolean> {
    const snapshot = await persistence.restore()
    if (snapshot === undefined || this.#stopping.signal.aborted) return false
    for (const order of ORDERS) {
      this.#sets[order].set(snapshot.parts[order].map(({ columns, live }) => new Segment(columns, live)))
    }
    this.#follower.resume(snapshot.logPosition.cursor)
    return true
  }

  /** Applies changes made during the load, or since the file. @returns whether the segments are complete now */
  async #catchUpAfterLoad(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && !this.#isOverLimit()) {
      const result = await this.#follower.catchUp()
      if (result === 'lost') return false
      this.#isReady = result === 'current' && !signal.aborted
      if (this.#isReady) return true
      await pause(POLL_MS, undefined, { signal })
    }
    return false
  }

  #state(): IndexState | undefined {
    const { appliedCursor } = this.#follower
    if (!this.#isReady || appliedCursor === undefined) return undefined
    const { registered, deleted } = this.#sets
    return {
      cursor: appliedCursor,
      parts: { registered: registered.segments.map(partOf), deleted: deleted.segments.map(partOf) },
    }
  }

  /** Disables the index if it exceeds its memory limit. */
  #isOverLimit(): boolean {
    const { bytes } = this.stats()
    if (bytes <= this.#options.memory) return false
    this.#stop()
    this.#options.report(`list index disabled: it takes more than ${this.#options.memory} bytes`)
    return true
  }

  #failed(error: unknown): void {
    if (this.#stopping.signal.aborted) return
    if (error instanceof UnsupportedValueError) {
      this.#stop()
      this.#options.report('list index disabled: it cannot represent a value of the database', error)
    } else this.#options.report('list index is behind', error)
  }

  #unload(): void {
    this.#isReady = false
    for (const order of ORDERS) this.#sets[order].set([])
  }

  #reload(reason: string): void {
    this.#unload()
    this.#options.report(`reloading the list index: ${reason}`)
    this.start()
  }

  async #apply(texts: readonly string[], count: number, overlapping: boolean): Promise<void> {
    const delta = await this.#builder.changes(texts, count, overlapping)
    await this.#updates.run('service', async () => {
      const removed = {
        registered: await this.#sets.registered.locate(delta.removed.registered),
        deleted: await this.#sets.deleted.locate(delta.removed.deleted),
      }
      for (const order of ORDERS) this.#sets[order].change(removed[order], delta.added[order])
      this.#follower.applied()
      this.#persistence?.changed(count)
      if (this.#isReady && !this.#isOverLimit()) void this.#merge()
    })
  }

  /**
   * Merges segments in another thread until there is nothing to merge; lists use the old ones until then. Returns immediately if
   * it is doing so already. Never rejects.
   */
  async #merge(): Promise<void> {
    if (this.#isMerging) return
    this.#isMerging = true
    try {
      for (const order of ORDERS) {
        const set = this.#sets[order]
        for (;;) {
          const old = set.toMerge()
          if (old.length === 0 || this.#stopping.signal.aborted) break
          const parts = old.map(partOf)
          const columns = await this.#builder.merged(parts, order)
          await this.#updates.run('service', async () => {
            const merged = await set.replace(old, parts, columns)
            this.#persistence?.merged(merged?.liveCount ?? 0)
            this.#isOverLimit()
          })
        }
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#isMerging = false
    }
  }
}
