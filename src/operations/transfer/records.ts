import type { Database, Reader } from '../../storage/database/database.ts'
import { hasRows, type Row } from '../../storage/database/rows.ts'
import { copiedTables, type Table } from '../../storage/database/tables.ts'
import { imageByKey, firstAccount } from './queries.ts'
import type { ImageBytes } from './images.ts'
import type { RowSource } from './pages.ts'

export const blobsTable = tableNamed('blobs')

function tableNamed(name: string): Table {
  const table = copiedTables.find((one) => one.name === name)
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}

/** Whether a database holds anything of its own. */
export async function isEmpty(reader: Reader): Promise<boolean> {
  for (const name of ['accounts', 'domains', 'blobs']) {
    if (await hasRows(reader, tableNamed(name))) return false
  }
  return true
}

/** What tells an instance from every other for as long as it lives: its first account. Empty where there is none. */
export async function ownerOf(reader: Reader): Promise<string> {
  const account = await reader.first(firstAccount())
  return account === undefined ? '' : `${account.name} ${account.created_at}`
}

/** The bytes of all images that are recorded, by hash. */
export async function* imagesIn(source: RowSource, table = blobsTable): AsyncGenerator<ImageBytes> {
  const columns = Object.keys(table.columns)
  const [hash, key, size] = ['hash', 'key', 'size'].map((name) => columns.indexOf(name))
  const at = (row: Row, place: number | undefined) => row[place ?? -1]
  for await (const page of source.pages(table, 'rows')) {
    for (const row of page) {
      yield { hash: String(at(row, hash)), key: String(at(row, key)), size: Number(at(row, size)) }
    }
  }
}

/** Whether any image has its bytes under this key at present. */
export async function isRecorded(database: Database, key: string): Promise<boolean> {
  return (await database.first(imageByKey(key))) !== undefined
}
