import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Cursor } from '../../storage/database/changes/change.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Input, Output } from '../tasks/snapshot-file.ts'
import type { MergePart } from './merge.ts'
import type { Order } from './order.ts'
import type { KeptFile, Snapshot } from './snapshot.ts'

const SNAPSHOT_FILE = taskModule('../tasks/snapshot-file', import.meta)

/** Fewer are read from the database in no time. */
const LEAST_RECORDS = 20_000
/** The file is written anew when it is behind by this part of all records: to follow them at a start takes as long. */
const BEHIND = 1 / 50
/** And when of this part of them the file has them in parts that are merged by now: each start merges them again. */
const MERGED = 1 / 4
/** So long after there is a reason, for more reasons may follow; and after the last one was written. */
const SOON_MS = 5_000
const INTERVAL_MS = 60_000
/** After one that failed: the disk may be full. */
const FAILED_MS = 600_000
/** How long the end of the process waits for it. */
const LAST_MS = 5_000

/** All records as of a place in the log of changes. */
export interface Moment {
  readonly cursor: Cursor
  readonly parts: Readonly<Record<Order, readonly MergePart[]>>
}

interface KeeperOptions {
  readonly database: { readonly changes: Pick<Database['changes'], 'witness'> }
  readonly tasks: Tasks
  readonly file: KeptFile
  /** Bytes that what is read may take. */
  readonly memory: number
  /** The lists as they are; undefined where they are not ready. */
  readonly moment: () => Moment | undefined
  /** How many records there are in them then. */
  readonly records: () => number
  /** Whether their parts are being merged: kept before that, each start would have to do it again. */
  readonly isMerging: () => boolean
  readonly report: (message: string, error?: unknown) => void
}

/** Keeps the lists in a file, for the next start. Whatever goes wrong with it costs that start time, and nothing else. */
export class Keeper {
  readonly #options: KeeperOptions
  /** Changes that the file does not have. */
  #behind = Infinity
  /** Records that were merged since. */
  #merged = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #notBefore = 0

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** What was kept, of a place in the log as the database has it; undefined where there is nothing to go on from. */
  async restore(): Promise<Snapshot | undefined> {
    try {
      const snapshot = await this.#read()
      this.#behind = snapshot === undefined ? Infinity : 0
      // What is of no use must not keep a good one away.
      if (snapshot === undefined) await this.forget()
      return snapshot
    } catch (error) {
      this.#options.report('what was kept of the lists could not be read', error)
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
    const { cursor, witness } = read.snapshot.place
    return (await database.changes.witness(cursor)) === witness ? read.snapshot : undefined
  }

  /** Nobody waits for it: a gigabyte takes a slow disk more than a minute. */
  #run(input: Input): Promise<Output> {
    return this.#options.tasks.run<Input, Output>(SNAPSHOT_FILE, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
  }

  /** It turned out to be of no use. */
  async forget(): Promise<void> {
    this.#behind = Infinity
    await rm(this.#options.file.path, { force: true }).catch(() => {})
  }

  /** To be called when so many changes have come into the lists, when they have become ready, and when they are merged. */
  changed(count: number): void {
    this.#behind += count
    if (this.#timer !== undefined || this.#options.isMerging() || !this.#isWorthIt()) return
    const delay = Math.max(SOON_MS, this.#notBefore - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.#write()
    }, delay).unref()
  }

  /** To be called when so many records were put into one part. */
  merged(count: number): void {
    this.#merged += count
  }

  /** Writes what is not kept yet. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await withTimeout(this.#finish(), LAST_MS)
  }

  async #finish(): Promise<void> {
    await this.#writing
    if (this.#isWorthIt()) await this.#write()
  }

  #isWorthIt(): boolean {
    const records = this.#options.records()
    return records >= LEAST_RECORDS && (this.#behind > records * BEHIND || this.#merged > records * MERGED)
  }

  #write(): Promise<void> {
    this.#writing ??= this.#writeNow().then((isDone) => {
      this.#writing = undefined
      this.#notBefore = performance.now() + (isDone ? INTERVAL_MS : FAILED_MS)
      this.changed(0)
    })
    return this.#writing
  }

  /** @returns false where it failed */
  async #writeNow(): Promise<boolean> {
    const { file, database, moment, records } = this.#options
    const now = moment()
    if (now === undefined) return true
    const { cursor, parts } = now
    const [before, merged] = [this.#behind, this.#merged]
    this.#behind = 0
    this.#merged = 0
    try {
      const place = { cursor, witness: await database.changes.witness(cursor) }
      const near = merged > records() * MERGED ? 0 : Math.ceil(records() * BEHIND)
      const input: Input = { kind: 'write', ...file, snapshot: { place, parts }, near }
      const output = await this.#run(input)
      if (output.kind === 'failed') throw new Error(output.reason)
      if (output.kind === 'busy') this.#owe(before, merged)
      return true
    } catch (error) {
      this.#owe(before, merged)
      this.#options.report('the lists could not be kept for the next start', error)
      return false
    }
  }

  /** What should have been written is not. */
  #owe(behind: number, merged: number): void {
    this.#behind += behind
    this.#merged += merged
  }
}
