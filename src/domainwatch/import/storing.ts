import { OverloadError } from '../../lib/errors.ts'
import { Pace } from './pace.ts'
import type { RowBatch, SortedRows } from './stretch.ts'

/** Tries while others keep the database busy. */
const MAX_TRIES = 10

export interface ImportCounts {
  /** Records of the file that were read right, a repeated one each time. */
  read: number
  /** Records that are new or changed by it. */
  changed: number
  refused: number
}

interface Stored {
  /** Rows that are new or changed. */
  readonly changed: number
  /** How long others who write had to wait for it. */
  readonly heldMs: number
}

/** Stores records that were read, in one transaction. */
export type StoreRows = (batch: RowBatch) => Promise<Stored>

/** How far an import has come. */
export interface Reached {
  /** All lines up to this one are stored. */
  readonly line: number
  /** Read and refused up to that line; changed so far. */
  readonly counts: ImportCounts
  /** Of the lines behind it, up to the line `to`, the names up to `name` are stored too. */
  readonly part?: { readonly to: number; readonly name: string } | undefined
}

/** What the lines come from, in whatever it counts: it is read far ahead of what is stored. */
interface Source {
  /** So much has been read. */
  readonly read: () => number
  /** Told after each transaction: the rows of so much are stored. */
  readonly stored: (amount: number) => void
}

export interface StoringOptions {
  readonly store: StoreRows
  /** Told after each transaction. */
  readonly stored?: (reached: Reached) => Promise<void>
  readonly source?: Source
}

/** A line, and what was read and refused up to it. */
interface Mark {
  readonly line: number
  readonly read: number
  readonly refused: number
}

/** Stores stretches one after the other, and tells how far that has come. */
export class Storing {
  readonly #options: StoringOptions
  readonly #pace = new Pace()
  #changed: number
  #from: Mark
  /** Of the source, where the stretch that is stored next begins. */
  #place = 0
  #work: Promise<void> = Promise.resolve()

  constructor(options: StoringOptions, from: Mark, changed: number) {
    this.#options = options
    this.#from = from
    this.#changed = changed
  }

  /** Resolves when the stretch before it is stored. */
  async begin(rows: SortedRows, upTo: Mark): Promise<void> {
    const place = this.#options.source?.read() ?? 0
    await this.#work
    this.#work = this.#store(rows, upTo, place)
    // Awaited at the next turn: until then a failure is nobody's.
    this.#work.catch(() => {})
  }

  /** Resolves to the number of rows that changed when all is stored. */
  async end(): Promise<number> {
    await this.#work
    return this.#changed
  }

  async #store(rows: SortedRows, upTo: Mark, place: number): Promise<void> {
    const { store, stored, source } = this.#options
    while (!rows.isEmpty) {
      const batch = rows.take(this.#pace.rows)
      const { changed, heldMs } = await patiently(() => store(batch))
      this.#pace.took(batch.names.length, heldMs)
      this.#changed += changed
      const name = batch.names.at(-1)
      if (rows.isEmpty || name === undefined) break
      source?.stored(this.#place + Math.floor((place - this.#place) * rows.share))
      await stored?.({ ...this.#told(), part: { to: upTo.line, name } })
    }
    this.#from = upTo
    this.#place = place
    source?.stored(place)
    await stored?.(this.#told())
  }

  #told(): { readonly line: number; readonly counts: ImportCounts } {
    const { line, read, refused } = this.#from
    return { line, counts: { read, changed: this.#changed, refused } }
  }
}

async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let run = 1; ; run++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof OverloadError) || run === MAX_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * run))
    }
  }
}
