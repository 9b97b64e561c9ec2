import type { Progress } from '../../lib/progress.ts'
import type { Database, Reader } from '../../storage/database/database.ts'
import {
  continueIds,
  countRows,
  pageOf,
  removeRows,
  storeRows,
  type Row,
} from '../../storage/database/rows.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { CHANGES, type Table } from '../../storage/database/tables.ts'

/** Rows written in one transaction. */
const BATCH = 5_000
/** Rows per page, a fraction of a megabyte. */
const PAGE_ROWS = 2_000

/**
 * Makes a database's tables equal to a source: walks both in key order and writes the differences. The same pass copies,
 * resumes after an interruption, updates a copy and verifies one: a pass that changes nothing proves that they are equal.
 * @returns how many rows were written or removed
 */
export async function syncTables(
  source: RowSource,
  target: Database,
  tables: readonly Table[],
  progress: Progress,
): Promise<number> {
  let changed = 0
  // Rows that refer to others are removed before them, and stored after them.
  for (const table of tables.toReversed()) {
    if (table.name !== CHANGES) changed += await removeExtraRows(source, target, table)
  }
  for (const table of tables) {
    progress.begin(table.name, await source.count(table))
    // Triggers record here what was just written to the other tables.
    if (table.name === CHANGES) changed += await removeExtraRows(source, target, table)
    changed += await storeDifferences(source, target, table, progress)
    await target.transaction((tx) => continueIds(tx, target.dialect, table))
  }
  progress.end()
  return changed
}

async function removeExtraRows(source: RowSource, target: Database, table: Table): Promise<number> {
  await using wanted = new RowReader(source.pages(table, 'keys'))
  // Needs no snapshot: this function writes only before the position it reads at.
  await using existing = new RowReader(rowsIn(target.scanner).pages(table, 'keys'))
  const remove = batched((keys) => target.transaction((tx) => removeRows(tx, target.dialect, table, keys)))
  for (;;) {
    const current = existing.row ?? (await existing.fetch())
    if (current === undefined) break
    const next = wanted.row ?? (await wanted.fetch())
    const order = next === undefined ? 1 : compareKeys(next, current, table.key.length)
    if (order > 0) await remove.add(current.slice(0, table.key.length))
    if (order >= 0) existing.step()
    if (order <= 0) wanted.step()
  }
  return await remove.end()
}

async function storeDifferences(
  source: RowSource,
  target: Database,
  table: Table,
  progress: Progress,
): Promise<number> {
  await using wanted = new RowReader(source.pages(table, 'rows'))
  await using existing = new RowReader(rowsIn(target.scanner).pages(table, 'rows'))
  const store = batched((rows) => target.transaction((tx) => storeRows(tx, target.dialect, table, rows)))
  for (;;) {
    const next = wanted.row ?? (await wanted.fetch())
    if (next === undefined) break
    const current = existing.row ?? (await existing.fetch())
    const order = current === undefined ? -1 : compareKeys(next, current, table.key.length)
    if (order > 0) {
      existing.step()
      continue
    }
    if (order < 0 || current === undefined || !equalRows(next, current)) await store.add(next)
    if (order === 0) existing.step()
    wanted.step()
    progress.add(1)
  }
  return await store.end()
}

/** Writes rows in batches. The next batch is collected while the previous one is written. */
function batched(write: (rows: readonly Row[]) => Promise<void>) {
  let rows: Row[] = []
  let count = 0
  let writing: Promise<void> = Promise.resolve()
  async function flush() {
    await writing
    if (rows.length === 0) return
    count += rows.length
    writing = write(rows)
    // Awaited by the next flush; until then it must not be an unhandled rejection.
    writing.catch(() => {})
    rows = []
  }
  return {
    async add(row: Row) {
      rows.push(row)
      if (rows.length >= BATCH) await flush()
    },
    /** @returns the total number of rows */
    async end() {
      await flush()
      await writing
      return count
    },
  }
}

/** A database or a backup that rows are read from. */
export interface RowSource {
  readonly count: (table: Table) => Promise<number>
  /** Yields all rows of a table in key order, in pages. With `keys`, rows may have the key's columns only. */
  readonly pages: (table: Table, what: 'rows' | 'keys') => AsyncIterable<readonly Row[]>
}

export function rowsIn(reader: Reader): RowSource {
  return {
    count: (table) => countRows(reader, table),
    async *pages(table, what) {
      const columns = what === 'keys' ? [...table.key] : Object.keys(table.columns)
      const read = (after: Row | undefined) => {
        const page = reader.values(pageOf(table, after, PAGE_ROWS, columns))
        // Read ahead: if the consumer stops, a failure must not be an unhandled rejection.
        page.catch(() => {})
        return page
      }
      let next = read(undefined)
      for (;;) {
        const page = await next
        const last = page.at(-1)
        if (last === undefined) return
        const isLast = page.length < PAGE_ROWS
        if (!isLast) next = read(last.slice(0, table.key.length))
        yield page
        if (isLast) return
      }
    },
  }
}

/** Reads rows one by one, waiting only between pages. */
export class RowReader {
  readonly #pages: AsyncIterator<readonly Row[]>
  #page: readonly Row[] = []
  #at = 0

  constructor(pages: AsyncIterable<readonly Row[]>) {
    this.#pages = pages[Symbol.asyncIterator]()
  }

  /** The current row, if it is in memory; else `fetch` is needed. */
  get row(): Row | undefined {
    return this.#page[this.#at]
  }

  step(): void {
    this.#at++
  }

  /** Returns the current row, loading the next page if needed. Undefined at the end. */
  async fetch(): Promise<Row | undefined> {
    while (this.row === undefined) {
      const next = await this.#pages.next()
      if (next.done === true) return undefined
      this.#page = next.value
      this.#at = 0
    }
    return this.row
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pages.return?.()
  }
}

/** Compares keys as both database engines do: numbers by value, texts by code point. */
export function compareKeys(a: Row, b: Row, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

function equalRows(a: Row, b: Row): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function compareValues(a: SqlValue | undefined, b: SqlValue | undefined): number {
  if (a === b) return 0
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  throw new TypeError(`keys of ${typeof a} and ${typeof b}`)
}

/** Compares by code point. JavaScript compares UTF-16 units, so characters beyond U+FFFF would sort before U+E000. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x !== y) return x >= 0xd800 && y >= 0xd800 ? rank(x) - rank(y) : x - y
  }
  return a.length - b.length
}

/** Ranks surrogates after all other units. */
const rank = (unit: number) => (unit >= 0xe000 ? unit : unit + 0x10000)
