import type { Row } from '../records.ts'
import type { ImportFormat } from './format.ts'

/**
 * Rows that are sorted together, some 60 MB, and two such stretches are in memory. In the order of their names they touch each
 * page of the table once or twice; in the order of the file nearly every row touches another one, and a page is the least that a
 * database writes.
 */
const MAX_ROWS = 500_000
const MAX_CHARACTERS = 64 * 1024 * 1024
/** The first ones are short: storing begins soon, while more is read. */
const FIRST_ROWS = 50_000

/** Neither a name nor JSON holds it, and all that they hold comes behind it. */
const NAME_END = '\0'
const PLACE_DIGITS = 7

export interface RowBatch {
  readonly format: ImportFormat
  readonly names: readonly string[]
  /** Their rows: an array of arrays. */
  readonly json: string
}

/** Rows that follow one another in a file, kept as text, which takes less memory than what it tells. */
export class Stretch {
  readonly #maxRows: number
  #entries: string[] = []
  #characters = 0

  /** @param before how many rows the file had before it */
  constructor(before: number) {
    this.#maxRows = Math.min(MAX_ROWS, Math.max(FIRST_ROWS, before))
  }

  get isFull(): boolean {
    return this.#entries.length >= this.#maxRows || this.#characters >= MAX_CHARACTERS
  }

  add(name: string, row: Row): void {
    const place = String(this.#entries.length).padStart(PLACE_DIGITS, '0')
    // Joined it is one text; as a sum it would keep its parts.
    const entry = [name, NAME_END, place, JSON.stringify(row)].join('')
    this.#entries.push(entry)
    this.#characters += entry.length
  }

  /**
   * Its rows by the order of their names, each name once: of several lines the last counts, of several registrations the
   * newest, wherever it stands.
   * @param behind names up to this one are left out
   */
  sorted(format: ImportFormat, behind = ''): SortedRows {
    this.#entries.sort()
    const kept: string[] = []
    let last = behind
    for (const entry of this.#entries) {
      const name = nameOf(entry)
      if (name <= behind) continue
      const before = kept.at(-1)
      if (name !== last || before === undefined) kept.push(entry)
      // Registrations of a name differ by their dates alone, so their texts are in the order of these.
      else if (format !== 'registrations' || rowOf(entry) > rowOf(before)) kept[kept.length - 1] = entry
      last = name
    }
    this.#entries = []
    return new SortedRows(format, kept)
  }
}

/** To be taken a batch at a time. */
export class SortedRows {
  readonly #format: ImportFormat
  readonly #entries: readonly string[]
  #at = 0

  constructor(format: ImportFormat, entries: readonly string[]) {
    this.#format = format
    this.#entries = entries
  }

  get isEmpty(): boolean {
    return this.#at === this.#entries.length
  }

  /** Of them, those that were taken: from 0 to 1. */
  get share(): number {
    return this.isEmpty ? 1 : this.#at / this.#entries.length
  }

  take(count: number): RowBatch {
    const some = this.#entries.slice(this.#at, this.#at + count)
    this.#at += some.length
    return { format: this.#format, names: some.map(nameOf), json: `[${some.map(rowOf).join(',')}]` }
  }
}

const nameOf = (entry: string) => entry.slice(0, entry.indexOf(NAME_END))
const rowOf = (entry: string) => entry.slice(entry.indexOf(NAME_END) + 1 + PLACE_DIGITS)
