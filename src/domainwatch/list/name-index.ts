import { setTimeout as pause } from 'node:timers/promises'
import { ORDERS, toPart, Segment, SegmentSet, type Order } from '../../lib/name-index/index.ts'
import { abortable, forEachConcurrent, withTimeout } from '../../lib/concurrency.ts'
import { OverloadError } from '../../lib/errors.ts'
import { Gate } from '../../lib/gate.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { domainChanges } from '../../storage/database/changes/change-log.ts'
import { Follower } from '../../storage/database/changes/follower.ts'
import type { Database } from '../../storage/database/database.ts'
import { StorageFault } from '../../storage/database/faults.ts'
import { FilterContext, type NameSignals } from '../filtered-record.ts'
import { IndexBuilder, type BuiltRecords } from '../tasks/index-builder.ts'
import { recordsAsText } from '../queries-records.ts'
import type { Filters } from '../filters.ts'
import type { Rules, RuleSet } from '../rules/index.ts'
import type { Dictionary } from '../words.ts'
import { Demand, firstTwins, hasBoughtTwin } from './signals.ts'
import { Scores, type InterestModel } from '../tasks/scores.ts'
import { ReadYourWrites, type WriteRange } from './read-your-writes.ts'
import type { IndexSegments } from './search.ts'

/** How long a list waits until the index is loaded and up to date. All times in milliseconds. */
const MAX_WAIT_MS = 10_000
/** How long one wait for changes to be applied takes. */
const CATCH_UP_MS = 1_000
/** Beyond this share of the records, reloading all is faster, unless there are fewer changes than the minimum. */
const MAX_PART_BEHIND = 1 / 4
const MIN_MAX_BEHIND = 300_000
/** Delay after an attempt that left changes out. */
const RETRY_MS = 20
const LOAD_RETRY_MS = 2_000
/** Texts of records that are built into columns at a time. */
const MAX_TEXTS_IN_WORK = 2
/** Queued changes of the segments: merges, and applied changes. */
const MAX_WAITING = 16
const UPDATE_WAIT_MS = 30_000
/** Names in a report of records that are left out. */
const MAX_REPORTED = 10

export interface NameIndexOptions {
  readonly database: Database
  readonly tasks: Tasks
  /** The words that names are split into. */
  readonly dictionary: Dictionary
  /** Time zone of the dates of records. */
  readonly timeZone: string
  readonly rules: Pick<Rules, 'current'>
  readonly report: (message: string, detail: object) => void
}

/** For metrics. */
export interface NameIndexStats {
  readonly names: number
  readonly bytes: number
  readonly segments: number
  /** 1 if it is loaded. */
  readonly ready: number
  /** Duration of the last load of all records, in seconds. */
  readonly loadSeconds: number
}

interface ReadOptions {
  /** The filters that are applied to the segments. Those of rules need marks of hidden records. */
  readonly filters?: Filters
  /** The model by which the records are sorted: it needs scores of them. */
  readonly model?: InterestModel | undefined
  /** Also reads what a node may have committed a moment ago, of which this process was not notified yet. */
  readonly isFresh?: boolean
  /** Returns a signal that ends the wait. Most readers do not wait. */
  readonly left?: (() => AbortSignal) | undefined
}

/**
 * All records in memory, in the two orders that lists have: what answers lists, counts, statistics, exports and the queue. It is
 * loaded once, then follows the log of changes. Readers see everything committed before their call.
 */
export class NameIndex {
  readonly #options: NameIndexOptions
  readonly #sets: Readonly<Record<Order, SegmentSet>> = {
    registered: new SegmentSet(),
    deleted: new SegmentSet(),
  }
  readonly #demand = new Demand()
  /** How interesting the records are. */
  readonly scores: Scores
  readonly #signals: NameSignals = {
    getDemand: this.#demand.of,
    inDemand: this.#demand.candidates,
    hasBoughtTwin: (name, now) => hasBoughtTwin(this.#sets.registered.segments, name, now),
    firstTwins: (name, now) => firstTwins(this.#sets.registered.segments, name, now),
  }
  readonly #updates = new Gate({ running: 1, waiting: MAX_WAITING, waitMs: UPDATE_WAIT_MS })
  readonly #stopping = new AbortController()
  readonly #writes = new ReadYourWrites()
  readonly #builder: IndexBuilder
  readonly #follower: Follower
  /** The version of the topic up to which all changes are applied. */
  #appliedVersion: number | undefined
  #loading: Promise<void> | undefined
  #isReady = false
  #loadSeconds = 0
  /** Why the last load failed: damage does not pass while readers wait. */
  #damage: StorageFault | undefined
  #isMerging = false
  /** The latest rules by which records were marked as hidden, and the marking in progress. */
  #rules: RuleSet | undefined
  #marking: Promise<void> | undefined
  #scoring: Promise<void> | undefined

  constructor(options: NameIndexOptions) {
    this.#options = options
    this.#builder = new IndexBuilder(options.tasks, options.dictionary)
    this.scores = new Scores(options.tasks)
    const { database } = options
    this.#follower = new Follower({
      log: database.changes,
      scanner: database.scanner,
      selection: domainChanges(database.dialect),
      apply: (text, count, isOverlapping, applied) => this.#apply(text, count, isOverlapping, applied),
      maxBehind: () => maxChangesBehind(this.#sets.registered.liveCount),
      signal: this.#stopping.signal,
    })
  }

  /** Loads the records. Resolves when all are there, or it is closed. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined))
    return this.#loading
  }

  close(): void {
    this.#stopping.abort()
    this.#unload()
  }

  /** Rejects unless the records are loaded. */
  async assertReady(): Promise<void> {
    if (!this.#isReady) throw new Error('the list index is not loaded yet')
  }

  /**
   * Returns segments with everything committed before the call.
   * @throws OverloadError if that takes too long, StorageFault if records cannot be read
   */
  async current({ filters, model, isFresh = false, left }: ReadOptions = {}): Promise<IndexSegments> {
    this.#writes.noteRead()
    const rules = filters?.hidden === undefined ? undefined : await this.#options.rules.current()
    const deadline = performance.now() + MAX_WAIT_MS
    const hasAll = () => this.#isReady && this.#isMarkedBy(rules) && this.#isScoredBy(model)
    if (!isFresh && this.#isCurrent && hasAll()) return this.#segments()
    const signal = left?.()
    while (!this.#stopping.signal.aborted && performance.now() < deadline) {
      signal?.throwIfAborted()
      if (!this.#isReady && this.#damage !== undefined) throw this.#damage
      if (!this.#isReady) {
        const loaded = withTimeout(this.load(), deadline - performance.now())
        await (signal === undefined ? loaded : abortable(loaded, signal))
      }
      // Also after the load: a change may have been committed since.
      if (this.#isReady && (await this.#catchUpOrReload())) {
        if (rules !== undefined) await withTimeout(this.#mark(rules), deadline - performance.now())
        if (model !== undefined) await withTimeout(this.#score(model), deadline - performance.now())
        if (hasAll()) return this.#segments()
      }
      await pause(RETRY_MS)
    }
    throw this.#damage ?? new OverloadError()
  }

  /** Returns what filters look at besides a record. */
  readonly contextAt = (now: number): FilterContext =>
    new FilterContext(now, this.#options.timeZone, this.#signals)

  #isMarkedBy(rules: RuleSet | undefined): boolean {
    return rules === undefined || this.#unmarked(rules).length === 0
  }

  /** The segments whose marks are not of these rules, or later ones. */
  #unmarked({ version }: RuleSet): readonly Segment[] {
    return ORDERS.flatMap((order) =>
      this.#sets[order].segments.filter(({ marksVersion }) => marksVersion < version),
    )
  }

  /** Marks the records that rules hide, for all readers that wait for it. */
  async #mark(rules: RuleSet): Promise<void> {
    if (rules.version > (this.#rules?.version ?? -1)) this.#rules = rules
    const markAll = async () => {
      for (const segment of this.#unmarked(rules))
        segment.setMarks(await this.#builder.marks(segment.columns, rules))
    }
    while (!this.#stopping.signal.aborted && !this.#isMarkedBy(rules))
      await (this.#marking ??= markAll().finally(() => (this.#marking = undefined)))
  }

  #isScoredBy(model: InterestModel | undefined): boolean {
    return model === undefined || this.scores.isComplete(model, this.#sets.registered.segments)
  }

  /** Scores the records, for all readers that wait for it. */
  async #score(model: InterestModel): Promise<void> {
    const scoreAll = async () => {
      const { segments } = this.#sets.registered
      for (const segment of segments) await this.scores.add(model, segment, segments)
    }
    while (!this.#stopping.signal.aborted && !this.#isScoredBy(model))
      await (this.#scoring ??= scoreAll().finally(() => (this.#scoring = undefined)))
  }

  /** Returns the words that many bought records have, by name, and the digits of their number. */
  readonly commonWords = () => this.#demand.common()

  /** Whether all committed changes are applied, except those of this process that are not acknowledged yet. */
  get #isCurrent(): boolean {
    if (this.#appliedVersion === undefined) return false
    const version = this.#options.database.version('domain')
    // Not a number on an engine with several writers, where ids do not tell which changes are applied.
    const appliedId = Number(this.#follower.seen?.visible)
    return this.#appliedVersion === version || this.#writes.cover(appliedId, version)
  }

  /**
   * Applies everything committed so far. `behind`: not in time.
   * @throws what reading and applying throw; the next call repeats it
   */
  async #catchUp(): Promise<'current' | 'behind' | 'lost'> {
    const version = this.#options.database.version('domain')
    const pass = this.#follower.catchUp()
    const result = (await withTimeout(pass, CATCH_UP_MS)) ? await pass : 'stopped'
    if (result === 'current') this.#appliedVersion = version
    return result === 'stopped' ? 'behind' : result
  }

  async #catchUpOrReload(): Promise<boolean> {
    const result = await this.#catchUp()
    if (result === 'lost' && this.#isReady) this.#reload()
    return result === 'current'
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
      // A list repeats what fails here.
      if (this.#isReady) await this.#catchUp().catch(() => {})
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
    }
  }

  async #load(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted && !this.#isReady) {
      try {
        const start = performance.now()
        this.#appliedVersion = undefined
        await this.#follower.begin()
        const texts = readAllRecords(this.#options.database, () => !signal.aborted)
        await forEachConcurrent(texts, MAX_TEXTS_IN_WORK, async (text) => {
          const built = await this.#builder.records(text)
          this.#reportSkipped(built)
          for (const order of ORDERS) this.#sets[order].change([], built.columns[order])
          await this.#demand.add(built.columns.registered)
        })
        while (!signal.aborted && !this.#isReady) {
          const result = await this.#catchUp()
          if (result === 'lost') throw new Error('the change log was replaced')
          this.#isReady = result === 'current' && !signal.aborted
        }
        this.#damage = undefined
        this.#loadSeconds = (performance.now() - start) / 1000
        void this.#merge()
      } catch (error) {
        this.#unload()
        if (signal.aborted) return
        if (error instanceof StorageFault && error.kind === 'damaged') this.#damage = error
        this.#options.report('the list index could not be loaded', { err: error })
        await pause(LOAD_RETRY_MS, undefined, { signal }).catch(() => {})
      }
    }
  }

  #reportSkipped({ skipped }: BuiltRecords): void {
    if (skipped.length === 0) return
    const names = skipped.slice(0, MAX_REPORTED)
    this.#options.report('lists leave out records that the service did not write', {
      count: skipped.length,
      names,
    })
  }

  #unload(): void {
    this.#isReady = false
    for (const order of ORDERS) this.#sets[order].clear()
    this.#demand.clear()
  }

  #reload(): void {
    this.#unload()
    this.#options.report('reloading the list index: the change log was replaced', {})
    void this.load()
  }

  async #apply(text: string, count: number, isOverlapping: boolean, applied: () => void): Promise<void> {
    const delta = await this.#builder.changes(text, count, isOverlapping)
    this.#reportSkipped(delta.added)
    await this.#updates.run('service', async () => {
      const removed = {
        registered: await this.#sets.registered.locate(delta.removed.registered),
        deleted: await this.#sets.deleted.locate(delta.removed.deleted),
      }
      await this.#demand.add(delta.added.columns.registered)
      this.#sets.deleted.change(removed.deleted, delta.added.columns.deleted)
      const gone = this.#sets.registered.change(removed.registered, delta.added.columns.registered)
      applied()
      await this.#demand.remove(gone)
      if (this.#isReady) void this.#merge()
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
          const parts = old.map(toPart)
          const columns = await this.#builder.merged(parts, order)
          const segment = new Segment(columns)
          if (this.#rules !== undefined) segment.setMarks(await this.#builder.marks(columns, this.#rules))
          const { latest } = this.scores
          if (latest !== undefined && order === 'registered')
            await this.scores.add(latest, segment, [
              segment,
              ...set.segments.filter((one) => !old.includes(one)),
            ])
          await this.#updates.run('service', () => set.replace(old, parts, segment))
        }
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted)
        this.#options.report('segments of the list index could not be merged', { err: error })
    } finally {
      this.#isMerging = false
    }
  }
}

/** Returns the maximum number of changes to follow, by the number of records. */
function maxChangesBehind(records: number): number {
  return Math.max(MIN_MAX_BEHIND, Math.floor(records * MAX_PART_BEHIND))
}

/** Records read at a time: some 20 ms on the shared connection, and 2 MB of text. More would take hundreds of megabytes meanwhile. */
const CHUNK = 16_384

/** Reads all records while `isWanted`, as texts of `recordsAsText`. */
async function* readAllRecords(database: Database, isWanted: () => boolean): AsyncGenerator<string> {
  for (let after = ''; isWanted();) {
    const chunk = await database.scanner.first(recordsAsText(database.dialect, after, CHUNK))
    if (chunk === undefined || chunk.last === null || chunk.text === null) return
    yield chunk.text
    if (chunk.count < CHUNK) return
    after = chunk.last
  }
}
