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

/** Rows written in one transaction, up to a page more. */
const BATCH = 5_000
/** Rows per page, a fraction of a megabyte. */
export const PAGE_ROWS = 2_000

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
  const remove = batched((keys) => target.transaction((tx) => removeRows(tx, target.dialect, table, keys)))
  // Needs no snapshot: this function writes only before the position it reads at.
  const existing = rowsIn(target.scanner).pages(table, 'keys')
  for await (const [page, wanted] of matched(table, existing, source.pages(table, 'keys'))) {
    await remove.add(page.filter((_, i) => wanted[i] === undefined))
  }
  return await remove.end()
}

async function storeDifferences(
  source: RowSource,
  target: Database,
  table: Table,
  progress: Progress,
): Promise<number> {
  const store = batched((rows) => target.transaction((tx) => storeRows(tx, target.dialect, table, rows)))
  const existing = rowsIn(target.scanner).pages(table, 'rows')
  for await (const [page, stored] of matched(table, source.pages(table, 'rows'), existing)) {
    await store.add(page.filter((row, i) => !equalRows(row, stored[i])))
    progress.add(page.length)
  }
  return await store.end()
}

/**
 * Yields each page with what the other side has under the keys of its rows. Both are in key order. By pages, because an `await`
 * for each row would take longer than the comparison.
 */
async function* matched(
  { key }: Table,
  pages: AsyncIterable<readonly Row[]>,
  otherPages: AsyncGenerator<readonly Row[], void>,
): AsyncGenerator<readonly [page: readonly Row[], found: readonly (Row | undefined)[]]> {
  await using _others = otherPages
  let others: readonly Row[] | void = []
  let at = 0
  for await (const page of pages) {
    const found: (Row | undefined)[] = []
    for (const row of page) {
      let order = -1
      while (others !== undefined && order < 0) {
        const other = others[at]
        if (other === undefined) {
          others = (await otherPages.next()).value
          at = 0
          continue
        }
        order = compareKeys(other, row, key.length)
        if (order < 0) at++
      }
      found.push(order === 0 ? others?.[at] : undefined)
    }
    yield [page, found]
  }
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
    async add(more: readonly Row[]) {
      rows.push(...more)
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
  readonly pages: (table: Table, what: 'rows' | 'keys') => AsyncGenerator<readonly Row[], void>
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

/** Compares keys as both database engines do: numbers by value, texts by code point. */
export function compareKeys(a: Row, b: Row, length: number): number {
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i], b[i])
    if (order !== 0) return order
  }
  return 0
}

function equalRows(a: Row, b: Row | undefined): boolean {
  if (a.length !== b?.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function compareValues(a: SqlValue | undefined, b: SqlValue | undefined): number {
  if (a === b) return 0
  if (typeof a === 'number' && typeof b === 'number') return a - b
  // JavaScript compares UTF-16 units, so characters beyond U+FFFF would sort before U+E000.
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  throw new TypeError(`keys of ${typeof a} and ${typeof b}`)
}
