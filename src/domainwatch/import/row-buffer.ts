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
   * @param after names up to this one are skipped
   */
  sorted(keeps: 'last' | 'newest', after = ''): SortedRows {
    this.#entries.sort()
    const kept: string[] = []
    let last = after
    for (const entry of this.#entries) {
      const name = nameOf(entry)
      if (name <= after) continue
      const before = kept.at(-1)
      if (name !== last || before === undefined) kept.push(entry)
      // Registrations of a name differ only in their dates, so their texts sort by date.
      else if (keeps === 'last' || toRow(entry) > toRow(before)) kept[kept.length - 1] = entry
      last = name
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
