import type { Database, Reader } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { isCopied, tablesOf } from '../../storage/database/tables.ts'
import { countRows, pagesOf, type Contents } from '../../storage/database/rows.ts'
import type { ImageBytes } from './copy-images.ts'

/** Returns all rows of a database that are copied. @param view sees the database as of one moment */
export async function dumpOf({ dialect }: Database, view: Reader): Promise<Contents> {
  const tables = []
  for (const table of tablesOf(SCHEMA).filter(isCopied))
    tables.push({ ...table, rows: await countRows(view, table.name) })
  return { tables, pages: (table) => pagesOf(view, dialect, table) }
}

/** Lists the bytes of all recorded images, ordered by hash. */
export async function* imagesOf(contents: Contents): AsyncGenerator<ImageBytes> {
  for await (const { hash, key, size } of rowsOf(contents, 'blobs'))
    yield { hash: String(hash), key: String(key), size: Number(size) }
}

/** Yields the rows of a table by the names of their columns. */
export async function* rowsOf(
  { pages, tables }: Contents,
  name: string,
): AsyncGenerator<Readonly<Record<string, unknown>>> {
  const table = tables.find((one) => one.name === name)
  if (table === undefined) return
  const columns = Object.keys(table.columns)
  for await (const page of pages(table)) {
    for (const line of page) {
      const values: readonly unknown[] = JSON.parse(line)
      yield Object.fromEntries(columns.map((column, i) => [column, values[i]]))
    }
  }
}
