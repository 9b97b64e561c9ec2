import { Overload } from '../../core/errors.ts'
import type { ImportCounts, ImportOptions } from './importer.ts'
import { Pace } from './pace.ts'
import type { SortedRows } from './stretch.ts'

/** Tries while others keep the database busy. */
const MAX_TRIES = 10

/** A line, and what was read and refused up to it. */
export interface Mark {
  readonly line: number
  readonly read: number
  readonly refused: number
}

/** Stores stretches one after the other, and tells how far that has come. */
export class Storing {
  readonly #options: Pick<ImportOptions, 'store' | 'stored'>
  readonly #pace = new Pace()
  #changed: number
  #from: Mark
  #work: Promise<void> = Promise.resolve()

  constructor(options: Pick<ImportOptions, 'store' | 'stored'>, from: Mark, changed: number) {
    this.#options = options
    this.#from = from
    this.#changed = changed
  }

  /** Resolves when the stretch before it is stored. */
  async begin(rows: SortedRows, upTo: Mark): Promise<void> {
    await this.#work
    this.#work = this.#store(rows, upTo)
    // Awaited at the next turn: until then a failure is nobody's.
    this.#work.catch(() => {})
  }

  /** Resolves to the number of rows that changed when all is stored. */
  async end(): Promise<number> {
    await this.#work
    return this.#changed
  }

  async #store(rows: SortedRows, upTo: Mark): Promise<void> {
    const { store, stored } = this.#options
    while (!rows.isEmpty) {
      const batch = rows.take(this.#pace.rows)
      const { changed, heldMs } = await patiently(() => store(batch))
      this.#pace.took(batch.names.length, heldMs)
      this.#changed += changed
      const name = batch.names.at(-1)
      if (rows.isEmpty || name === undefined) break
      await stored?.({ ...this.#told(), part: { to: upTo.line, name } })
    }
    this.#from = upTo
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
      if (!(error instanceof Overload) || run === MAX_TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, 100 * run))
    }
  }
}
