import {
  type Columns,
  type Order,
  type SegmentPart,
  UnsupportedValueError,
  ORDERS,
  partOf,
  type Segment,
  type SegmentSet,
} from '../../lib/name-index/index.ts'
import { taskModule, BACKGROUND_TASK_TIMEOUT_MS, type Tasks } from '../../lib/tasks.ts'
import { type Input, type Output, deltaOfChanges, type Delta, type Built } from '../tasks/build-columns.ts'
import type { Dictionary } from '../words/dictionary.ts'
import type { Mutex } from '../../lib/fair-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import { recordsAsText } from './queries.ts'

const BUILD_COLUMNS = taskModule('../tasks/build-columns', import.meta)

/** This many changes are parsed on the event loop, in some milliseconds; more are parsed in another thread. */
const SMALL_DELTA = 300

/** Records read at a time: some 80 ms on the shared connection, and 8 MB of text. */
const CHUNK = 65_536
const MAX_CHUNKS_IN_WORK = 2

/**
 * Reads all records while `isWanted`, as texts of `recordsAsText`. Waits for `handle` before it reads further
 * parts.
 */
export async function readAllRecords(
  database: Database,
  isWanted: () => boolean,
  handle: (text: string) => Promise<void>,
): Promise<void> {
  const inWork = new Set<Promise<void>>()
  for (let after = ''; isWanted();) {
    const chunk = await database.scanner.first(recordsAsText(database.dialect, after, CHUNK))
    if (chunk === undefined || chunk.last === null || chunk.text === null) break
    const handled = handle(chunk.text).then(() => void inWork.delete(handled))
    inWork.add(handled)
    // Awaited below, where a rejection is thrown.
    handled.catch(() => {})
    if (inWork.size >= MAX_CHUNKS_IN_WORK) await Promise.race(inWork)
    if (chunk.count < CHUNK) break
    after = chunk.last
  }
  await Promise.all(inWork)
}

/** Builds columns in another thread. Its methods throw `UnsupportedValueError`. */
export class IndexBuilder {
  readonly #tasks: Tasks
  readonly #dictionary: Dictionary

  constructor(tasks: Tasks, dictionary: Dictionary) {
    this.#tasks = tasks
    this.#dictionary = dictionary
  }

  records(text: string): Promise<Built['records']> {
    return this.#build({ kind: 'records', text, words: this.#dictionary.trie })
  }

  async changes(texts: readonly string[], count: number, overlapping: boolean): Promise<Delta> {
    const { split, trie } = this.#dictionary
    if (count <= SMALL_DELTA) return deltaOfChanges(texts, overlapping, split)
    return this.#build({ kind: 'changes', texts, overlapping, words: trie })
  }

  merged(parts: readonly SegmentPart[], order: Order): Promise<Columns> {
    return this.#build({ kind: 'merge', parts, order })
  }

  async #build<Kind extends keyof Built>(input: Input & { readonly kind: Kind }): Promise<Built[Kind]> {
    // Callers that wait for changes have a shorter timeout of their own.
    const output = await this.#tasks.run<Input, Output<Built[Kind]>>(BUILD_COLUMNS, input, {
      timeoutMs: BACKGROUND_TASK_TIMEOUT_MS,
    })
    if (output.kind === 'unsupported') throw new UnsupportedValueError(output.reason)
    return output.value
  }
}

export interface SegmentMergerOptions {
  readonly sets: Readonly<Record<Order, SegmentSet>>
  readonly builder: IndexBuilder
  /** Held while segments are replaced. */
  readonly updates: Mutex
  /** Called after each merge. @param records live records of the merged segment */
  readonly onMerged: (records: number) => void
  readonly onError: (error: unknown) => void
  /** Called when nothing is left to merge, or merging has failed. */
  readonly onIdle: () => void
  readonly signal: AbortSignal
}

/** Merges the segments of both orders in another thread. Lists use the old ones until then. */
export class SegmentMerger {
  readonly #options: SegmentMergerOptions
  #isRunning = false

  constructor(options: SegmentMergerOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Merges until there is nothing to merge; returns immediately if it is doing so already. Never rejects. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    const { sets, signal, onError, onIdle } = this.#options
    try {
      for (const order of ORDERS) {
        for (;;) {
          const old = sets[order].toMerge()
          if (old.length === 0 || signal.aborted) break
          await this.#mergeOnce(order, old)
        }
      }
    } catch (error) {
      onError(error)
    } finally {
      this.#isRunning = false
      onIdle()
    }
  }

  async #mergeOnce(order: Order, old: readonly Segment[]): Promise<void> {
    const { sets, builder, updates, onMerged } = this.#options
    const parts = old.map(partOf)
    const columns = await builder.merged(parts, order)
    await updates.run(async () => {
      const merged = await sets[order].replace(old, parts, columns)
      if (merged !== undefined) onMerged(merged.liveCount)
    })
  }
}
