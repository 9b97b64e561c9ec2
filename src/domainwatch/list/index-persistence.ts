import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Order, SegmentPart } from '../../lib/name-index/index.ts'
import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import { withTimeout } from '../../lib/concurrency.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Input, Output, IndexFile, Snapshot } from '../tasks/snapshot-file.ts'

const SNAPSHOT_FILE = taskModule('../tasks/snapshot-file', import.meta)

/** With fewer records, loading from the database is fast enough. */
const MIN_RECORDS = 20_000
/** The file is rewritten if it misses changes of this share of all records, which a start would have to apply. */
const MAX_PART_MISSING = 1 / 50
/** It is also rewritten if this share of the records was merged since: each start would merge them again. */
const MAX_PART_MERGED = 1 / 4
const INTERVAL_MS = 60_000
/** Delay after a failed write: the disk may be full. */
const RETRY_MS = 600_000
/** How long the end of the process waits for the last write. */
const CLOSE_TIMEOUT_MS = 5_000

/** All records as of a cursor in the log of changes. */
export interface IndexState {
  readonly cursor: Cursor
  readonly parts: Readonly<Record<Order, readonly SegmentPart[]>>
}

interface IndexPersistenceOptions {
  readonly database: { readonly changes: Pick<Database['changes'], 'witness'> }
  readonly tasks: Tasks
  readonly file: IndexFile
  /** Maximum memory of a restored index, in bytes. */
  readonly memory: number
  /** Returns the current index; undefined if it is not ready. */
  readonly state: () => IndexState | undefined
  /** The number of records in it. */
  readonly records: () => number
  readonly report: (message: string, error?: unknown) => void
}

/** Stores the index in a file for the next start. A failure only makes that start slower. */
export class IndexPersistence {
  readonly #options: IndexPersistenceOptions
  /** Number of changes missing from the file. */
  #missing = Infinity
  /** Records that were merged since it was written. */
  #merged = 0
  readonly #timer: NodeJS.Timeout
  #writing: Promise<void> | undefined
  #notBefore = 0

  constructor(options: IndexPersistenceOptions) {
    this.#options = options
    this.#timer = setInterval(() => {
      if (performance.now() >= this.#notBefore) void this.#write()
    }, INTERVAL_MS).unref()
  }

  /** Reads the file. Undefined if there is none, or the change log no longer has the changes after it. */
  async restore(): Promise<Snapshot | undefined> {
    try {
      const snapshot = await this.#read()
      this.#missing = snapshot === undefined ? Infinity : 0
      // A useless file must not keep a good one from being written.
      if (snapshot === undefined) await this.forget()
      return snapshot
    } catch (error) {
      this.#options.report('the stored list index could not be read', error)
      await this.forget()
      return undefined
    }
  }

  async #read(): Promise<Snapshot | undefined> {
    const { file, memory, database } = this.#options
    if (!existsSync(file.path)) return undefined
    const read = await this.#run({ kind: 'read', ...file, memory })
    if (read.kind === 'failed') throw new Error(read.reason)
    if (read.kind !== 'read' || read.snapshot === undefined) return undefined
    const { cursor, witness } = read.snapshot.logPosition
    return (await database.changes.witness(cursor)) === witness ? read.snapshot : undefined
  }

  /** No request waits for it, and a slow disk takes more than a minute for a gigabyte. */
  #run(input: Input): Promise<Output> {
    return this.#options.tasks.run<Input, Output>(SNAPSHOT_FILE, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
  }

  /** Removes a file that turned out to be useless. */
  async forget(): Promise<void> {
    this.#missing = Infinity
    await rm(this.#options.file.path, { force: true }).catch(() => {})
  }

  /** Must be called after changes were applied. */
  changed(count: number): void {
    this.#missing += count
  }

  /** Must be called after segments with this many records were merged. */
  merged(count: number): void {
    this.#merged += count
  }

  /** Writes the file if it is out of date. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await withTimeout(this.#finish(), CLOSE_TIMEOUT_MS)
  }

  async #finish(): Promise<void> {
    await this.#writing
    await this.#write()
  }

  #isWorthWriting(): boolean {
    const records = this.#options.records()
    const isOutdated = this.#missing > records * MAX_PART_MISSING || this.#merged > records * MAX_PART_MERGED
    return records >= MIN_RECORDS && isOutdated
  }

  async #write(): Promise<void> {
    this.#writing ??= this.#writeNow().finally(() => (this.#writing = undefined))
    await this.#writing
  }

  async #writeNow(): Promise<void> {
    const { file, database, state, records } = this.#options
    const now = state()
    if (now === undefined || !this.#isWorthWriting()) return
    const { cursor, parts } = now
    const before = { missing: this.#missing, merged: this.#merged }
    this.#missing = 0
    this.#merged = 0
    const undo = () => {
      this.#missing += before.missing
      this.#merged += before.merged
    }
    try {
      const logPosition = { cursor, witness: await database.changes.witness(cursor) }
      const isMerged = before.merged > records() * MAX_PART_MERGED
      const near = isMerged ? 0 : Math.ceil(records() * MAX_PART_MISSING)
      const input: Input = { kind: 'write', ...file, snapshot: { logPosition, parts }, near }
      const output = await this.#run(input)
      if (output.kind === 'failed') throw new Error(output.reason)
      if (output.kind === 'busy') undo()
    } catch (error) {
      undo()
      this.#notBefore = performance.now() + RETRY_MS
      this.#options.report('the list index could not be stored for the next start', error)
    }
  }
}
