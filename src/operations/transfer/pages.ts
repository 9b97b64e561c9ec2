import type { Reader } from '../../storage/database/database.ts'
import { countRows, pageOf, type Row } from '../../storage/database/rows.ts'
import type { Table } from '../../storage/database/tables.ts'

/** Rows read at a time: a page is a fraction of a megabyte. */
const PAGE = 2_000

/** Where rows come from: a database, or a backup. */
export interface RowSource {
  readonly count: (table: Table) => Promise<number>
  /** All rows of a table by key, page by page. With `keys`, they may have no more than the key's columns. */
  readonly pages: (table: Table, what: 'rows' | 'keys') => AsyncIterable<readonly Row[]>
}

export function rowsIn(reader: Reader): RowSource {
  return {
    count: (table) => countRows(reader, table),
    async *pages(table, what) {
      const columns = what === 'keys' ? [...table.key] : Object.keys(table.columns)
      const read = (after: Row | undefined) => {
        const page = reader.values(pageOf(table, after, PAGE, columns))
        // It is read ahead; when nobody comes to ask for it, its failure is nobody's.
        page.catch(() => {})
        return page
      }
      let next = read(undefined)
      for (;;) {
        const page = await next
        const last = page.at(-1)
        if (last === undefined) return
        const isLast = page.length < PAGE
        if (!isLast) next = read(last.slice(0, table.key.length))
        yield page
        if (isLast) return
      }
    },
  }
}

/** One row after the other, waiting only between pages. */
export class Cursor {
  readonly #pages: AsyncIterator<readonly Row[]>
  #page: readonly Row[] = []
  #at = 0

  constructor(pages: AsyncIterable<readonly Row[]>) {
    this.#pages = pages[Symbol.asyncIterator]()
  }

  /** The row at hand; undefined when the next page has to be fetched, or there is none. */
  get row(): Row | undefined {
    return this.#page[this.#at]
  }

  step(): void {
    this.#at++
  }

  /** The row at hand, of the next page where need be; undefined at the end. */
  async fetched(): Promise<Row | undefined> {
    while (this.row === undefined) {
      const next = await this.#pages.next()
      if (next.done === true) return undefined
      this.#page = next.value
      this.#at = 0
    }
    return this.row
  }

  async close(): Promise<void> {
    await this.#pages.return?.()
  }
}
