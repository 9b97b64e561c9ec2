import { isOverload } from '../../lib/errors.ts'
import { withRetries } from '../../lib/concurrency.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Database, Transaction } from '../../storage/database/database.ts'
import { purgeBeforeWrite } from '../purge.ts'
import { restoreDomains } from '../queries-batches.ts'
import { namesRecorded } from '../queries-records.ts'
import { Rules } from '../rules/index.ts'
import type { SplitName } from '../words.ts'

/**
 * Rows sorted together, some 60 MB; two buffers are in memory. Sorted by name, rows touch each page of the table once or
 * twice; in file order nearly every row touches another page, and a database writes whole pages.
 */
const MAX_ROWS = 500_000
const MAX_CHARACTERS = 64 * 1024 * 1024
/** The first buffers are small, so that storing starts early while reading continues. */
const FIRST_ROWS = 50_000

/** Separates name and row: neither contains it, and it sorts before everything they contain. */
const NAME_END = '\0'
const POSITION_DIGITS = 7

export interface RowBatch {
  readonly names: readonly string[]
  /** A JSON array of rows, which are arrays that start with the name. */
  readonly json: string
}

/** Consecutive rows of a file, as text, because objects take more memory. */
export class RowBuffer {
  readonly #maxRows: number
  #entries: string[] = []
  #characters = 0

  /**
   * @param before number of rows of the file before this buffer
   * @param maxRows for callers that must not block the event loop while rows are sorted
   */
  constructor(before: number, maxRows = MAX_ROWS) {
    this.#maxRows = Math.min(maxRows, Math.max(FIRST_ROWS, before))
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#maxRows || this.#characters >= MAX_CHARACTERS
  }

  /** @param row JSON array of its values */
  add(name: string, row: string): void {
    const position = String(this.#entries.length).padStart(POSITION_DIGITS, '0')
    // `join` makes a flat string; `+` would keep the parts alive.
    const entry = [name, NAME_END, position, row].join('')
    this.#entries.push(entry)
    this.#characters += entry.length
  }

  /**
   * Returns its rows by name, each name once.
   * @param keeps which of several lines of a name; the newest is that of registrations
   */
  sorted(keeps: 'last' | 'newest'): SortedRows {
    this.#entries.sort()
    const kept: string[] = []
    for (const entry of this.#entries) {
      const before = kept.at(-1)
      if (before === undefined || nameOf(entry) !== nameOf(before)) kept.push(entry)
      // Registrations of a name differ only in their dates, so their texts sort by date.
      else if (keeps === 'last' || toRow(entry) > toRow(before)) kept[kept.length - 1] = entry
    }
    this.#entries = []
    return new SortedRows(kept)
  }
}

/** Rows in the order of their names, to be taken in batches. */
export class SortedRows {
  readonly #entries: readonly string[]
  #at = 0

  constructor(entries: readonly string[]) {
    this.#entries = entries
  }

  get isEmpty(): boolean {
    return this.#at === this.#entries.length
  }

  /** The share that was taken, from 0 to 1. */
  get share(): number {
    return this.isEmpty ? 1 : this.#at / this.#entries.length
  }

  take(count: number): RowBatch {
    const some = this.#entries.slice(this.#at, this.#at + count)
    this.#at += some.length
    return { names: some.map(nameOf), json: `[${some.map(toRow).join(',')}]` }
  }
}

const nameOf = (entry: string) => entry.slice(0, entry.indexOf(NAME_END))
const toRow = (entry: string) => entry.slice(entry.indexOf(NAME_END) + 1 + POSITION_DIGITS)

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

  /** Resolves when nothing is being stored any more. */
  async settled(): Promise<void> {
    await this.#work.catch(() => {})
  }

  async #store(rows: SortedRows, upTo: Mark, position: number): Promise<void> {
    const { store, stored, source } = this.#options
    while (!rows.isEmpty) {
      const batch = rows.take(BATCH_ROWS)
      // Another run stores the first rows of an unfinished buffer again, which changes nothing.
      const mark = rows.isEmpty ? upTo : this.#from
      const reachedAfter = (effect: Effect) => this.#reached(mark, sum(this.#effect, effect))
      const effect = await withRetries(() => store(batch, reachedAfter), RETRIES)
      this.#effect = sum(this.#effect, effect)
      if (rows.isEmpty) break
      source?.stored(this.#position + Math.floor((position - this.#position) * rows.share))
      await stored?.(this.#reached(mark, this.#effect))
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

export interface ImportTarget {
  readonly database: Database
  readonly clock: Clock
  readonly timeZone: string
  /** Returns the words of a name. */
  readonly split: SplitName
  /** The author of the changes, and the agent of new records of the registry's lists. */
  readonly account: { readonly id: number; readonly name: string }
  /** Called in each transaction after its rows are stored, with what they changed and how far the import is then. */
  readonly stored?: (tx: Transaction, effect: Effect, reached: Reached | undefined) => Promise<void>
}

export type ApplyRows = (tx: Transaction, batch: RowBatch) => Promise<Effect>

export function restoreRows({ database }: Pick<ImportTarget, 'database'>): ApplyRows {
  return async (tx, { names, json }) => {
    const known = await tx.all(namesRecorded(database.dialect, names))
    const changed = await tx.runMany(restoreDomains, [], new Uint8Array(Buffer.from(json)))
    return { added: names.length - known.length, changed }
  }
}

/**
 * Returns what stores rows, each batch in one transaction.
 * @param isDry whether each is rolled back, so that a dry run counts what a real one would
 */
export function storeRows(target: ImportTarget, apply: ApplyRows, isDry = false): StoreRows {
  const { database, account, clock, split } = target
  const rules = new Rules(database, split)
  /** Thrown in a transaction to roll it back. */
  const rollBack = new Error('dry run')
  return async (batch, reachedAfter) => {
    let effect: Effect = { added: 0, changed: 0 }
    const store = async (tx: Transaction) => {
      await purgeBeforeWrite(tx, database.dialect, clock.now(), () => batch.json)
      effect = await rules.tagging(tx, () => apply(tx, batch))
      if (isDry) throw rollBack
      await target.stored?.(tx, effect, reachedAfter?.(effect))
    }
    await database.transaction(store, account.id, { rows: batch.names.length }).catch((error: unknown) => {
      if (error !== rollBack) throw error
    })
    return effect
  }
}
