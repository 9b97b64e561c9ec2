import { isOverload } from '../../lib/errors.ts'
import { withRetries } from '../../lib/concurrency.ts'
import type { RowBatch, SortedRows } from './row-buffer.ts'

/** While the database is overloaded: some 5 s in all. */
const RETRIES = { attempts: 7, firstPauseMs: 100, isRetryable: isOverload }

/** Rows of a transaction, for which other writers to SQLite wait. */
const BATCH_ROWS = 10_000

export interface ImportCounts {
  /** Valid records of the file, repeated ones included. */
  read: number
  added: number
  /** Records added or changed. */
  changed: number
  refused: number
}

/** What some rows do to the records. */
export interface Effect {
  readonly added: number
  /** Records added or changed. */
  readonly changed: number
}

/**
 * Stores rows in one transaction.
 * @param reachedAfter returns the progress of the import once they are stored
 */
export type StoreRows = (batch: RowBatch, reachedAfter?: (effect: Effect) => Reached) => Promise<Effect>

export interface LineFault {
  readonly line: number
  readonly msg: string
}

/** Progress of an import: the position from which another run can resume. */
export interface Reached {
  /** All lines up to this one are stored. */
  readonly line: number
  /** `read` and `refused` up to that line, `added` and `changed` so far. */
  readonly counts: ImportCounts
  /** The first lines that were refused up to that line. */
  readonly faults?: readonly LineFault[]
  /** The names up to `name` of the following lines up to `to` are stored too. */
  readonly part?: { readonly to: number; readonly name: string } | undefined
}

/** Progress through the source, in any unit. Reading is far ahead of storing. */
interface Source {
  /** Returns how much was read. */
  readonly read: () => number
  /** Called after each transaction with how much of the source is stored. */
  readonly stored: (amount: number) => void
}

export interface WriterOptions {
  readonly store: StoreRows
  /** Called after each transaction. */
  readonly stored?: (reached: Reached) => Promise<void>
  readonly source?: Source
}

/** A line, and the counts up to it. */
interface Mark {
  readonly line: number
  readonly read: number
  readonly refused: number
}

/** Stores buffers of rows one after the other and reports progress. */
export class ImportWriter {
  readonly #options: WriterOptions
  readonly #faults: readonly LineFault[]
  #effect: Effect
  #from: Mark
  /** How much of the source was read when the next buffer began. */
  #position = 0
  #work: Promise<void> = Promise.resolve()

  /** @param faults those of the lines that were read, to which the caller adds more */
  constructor(options: WriterOptions, from: Mark, effect: Effect, faults: readonly LineFault[]) {
    this.#options = options
    this.#from = from
    this.#effect = effect
    this.#faults = faults
  }

  /** Starts to store rows. Resolves when the previous rows are stored. */
  async begin(rows: SortedRows, upTo: Mark): Promise<void> {
    const position = this.#options.source?.read() ?? 0
    await this.#work
    this.#work = this.#store(rows, upTo, position)
    // Awaited by the next call: until then the rejection must not count as unhandled.
    this.#work.catch(() => {})
  }

  /** Resolves when everything is stored, to what it changed. */
  async end(): Promise<Effect> {
    await this.#work
    return this.#effect
  }

  async #store(rows: SortedRows, upTo: Mark, position: number): Promise<void> {
    const { store, stored, source } = this.#options
    while (!rows.isEmpty) {
      const batch = rows.take(BATCH_ROWS)
      const name = batch.names.at(-1) ?? ''
      const reachedAfter = (effect: Effect): Reached => {
        const total = sum(this.#effect, effect)
        const part = { to: upTo.line, name }
        return rows.isEmpty ? this.#reached(upTo, total) : { ...this.#reached(this.#from, total), part }
      }
      const effect = await withRetries(() => store(batch, reachedAfter), RETRIES)
      const reached = reachedAfter(effect)
      this.#effect = sum(this.#effect, effect)
      if (rows.isEmpty) break
      source?.stored(this.#position + Math.floor((position - this.#position) * rows.share))
      await stored?.(reached)
    }
    this.#from = upTo
    this.#position = position
    source?.stored(position)
    await stored?.(this.#reached(upTo, this.#effect))
  }

  #reached({ line, read, refused }: Mark, { added, changed }: Effect): Reached {
    const faults = this.#faults.filter((fault) => fault.line <= line)
    return { line, counts: { read, added, changed, refused }, ...(faults.length > 0 && { faults }) }
  }
}

const sum = (one: Effect, other: Effect): Effect => ({
  added: one.added + other.added,
  changed: one.changed + other.changed,
})
