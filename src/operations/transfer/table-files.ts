import { createHash, type Hash } from 'node:crypto'
import { pipeline, Readable, Transform } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { BlobDamaged, type BlobStore, isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Row } from '../../storage/database/rows.ts'
import type { Table } from '../../storage/database/tables.ts'
import type { Progress } from '../../lib/progress.ts'
import type { BackupStore, Manifest, TableFile } from './backup-store.ts'
import { imagesIn, type ImageBytes } from './copy-images.ts'
import { PAGE_ROWS, type RowSource } from './sync-tables.ts'

/** Pages per file: object stores accept files of a few gigabytes only. */
const FILE_PAGES = 500
/** Longer lines were not written by this program, and would be held in memory whole. */
const MAX_LINE_LENGTH = 16 * 1024 * 1024
/** Three times as fast as the default, for 10 % more bytes. */
const GZIP_LEVEL = 3

/** A file of a backup is missing or damaged. */
export class FileFault extends Error {
  readonly file: string

  constructor(file: string, what: 'missing' | 'damaged') {
    super(`${file} is ${what}`)
    this.file = file
  }
}

/** Writes all rows of a table, in as many files as needed. */
export async function writeTable(
  { staging, tables }: BackupStore,
  snapshot: string,
  table: Table,
  source: RowSource,
  progress: Progress,
): Promise<TableFile[]> {
  const pages = source.pages(table, 'rows')
  let page = (await pages.next()).value
  let count = 0
  async function* lines() {
    for (let written = 0; written < FILE_PAGES && page !== undefined; written++) {
      yield page.map((row) => `${JSON.stringify(row)}\n`).join('')
      count += page.length
      progress.add(page.length)
      page = (await pages.next()).value
    }
  }
  const files: TableFile[] = []
  while (page !== undefined) {
    count = 0
    const name = `${snapshot}-${table.name}-${files.length + 1}.ndjson.gz`
    const digest = createHash('sha256')
    // A failure reaches the reader of the end of the pipeline.
    const compressed = pipeline(
      Readable.from(lines()),
      createGzip({ level: GZIP_LEVEL }),
      hashing(digest),
      () => {},
    )
    await using staged = await staging.write(compressed)
    await tables.put(name, staged)
    files.push({ name, rows: count, bytes: staged.size, sha256: digest.digest('hex') })
  }
  return files
}

/** Reads the rows of a snapshot. Reading fails at the end of a file that is damaged. */
export function rowsOfBackup(tables: BlobStore, manifest: Manifest): RowSource {
  const backupOf = (table: Table) => manifest.tables.find(({ name }) => name === table.name)
  return {
    count: async (table) => backupOf(table)?.rows ?? 0,
    async *pages(table) {
      for (const file of backupOf(table)?.files ?? []) yield* pagesOf(tables, file)
    },
  }
}

/** Lists the bytes of all images of a snapshot, ordered by hash. */
export async function* imagesOfBackup(tables: BlobStore, manifest: Manifest): AsyncGenerator<ImageBytes> {
  const table = manifest.tables.find(({ name }) => name === 'blobs')
  if (table !== undefined) yield* imagesIn(rowsOfBackup(tables, manifest), table)
}

/** Returns what is wrong with a file, if anything. */
export async function checkFile(tables: BlobStore, file: TableFile): Promise<FileFault | undefined> {
  try {
    for await (const _ of await openFile(tables, file));
    return undefined
  } catch (error) {
    if (error instanceof FileFault) return error
    throw error
  }
}

/** Returns an invalid key in the tables that name files of the image store, if there is one: it would become a path. */
export async function checkKeys(tables: BlobStore, manifest: Manifest): Promise<string | undefined> {
  for (const table of manifest.tables) {
    const at = table.name === 'blobs' || table.name === 'blob_trash' ? keyColumn(table) : -1
    if (at === -1) continue
    for await (const page of rowsOfBackup(tables, manifest).pages(table, 'rows')) {
      const invalid = page.find((row) => !isBlobKey(String(row[at])))
      if (invalid === undefined) continue
      return `${table.name} has ${JSON.stringify(String(invalid[at]).slice(0, 100))}, which is not a valid blob key`
    }
  }
  return undefined
}

const keyColumn = (table: Table) => Object.keys(table.columns).indexOf('key')

async function* pagesOf(tables: BlobStore, file: TableFile): AsyncGenerator<readonly Row[]> {
  const body = await openFile(tables, file)
  const text = pipeline(body, createGunzip(), () => {})
  text.setEncoding('utf8')
  let rest = ''
  let lines: string[] = []
  for await (const chunk of text) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > MAX_LINE_LENGTH) throw new FileFault(file.name, 'damaged')
    lines.push(...parts)
    if (lines.length < PAGE_ROWS) continue
    yield parsed(file, lines)
    lines = []
  }
  if (rest !== '') throw new FileFault(file.name, 'damaged')
  if (lines.length > 0) yield parsed(file, lines)
}

function parsed(file: TableFile, lines: readonly string[]): Row[] {
  const rows: unknown = JSON.parse(`[${lines.join(',')}]`)
  if (!Array.isArray(rows) || !rows.every(isRow)) throw new FileFault(file.name, 'damaged')
  return rows
}

const isRow = (row: unknown): row is Row =>
  Array.isArray(row) &&
  row.every((value) => value === null || typeof value === 'string' || typeof value === 'number')

/** Opens a file. Its body fails at the end if its digest differs. */
async function openFile(tables: BlobStore, { name, bytes, sha256 }: TableFile): Promise<Readable> {
  let body: Readable | undefined
  try {
    body = await tables.stream(name, 0, bytes - 1)
  } catch (error) {
    if (error instanceof BlobDamaged) throw new FileFault(name, 'damaged')
    throw error
  }
  if (body === undefined) throw new FileFault(name, 'missing')
  const digest = createHash('sha256')
  const verify = hashing(digest, () =>
    digest.digest('hex') === sha256 ? null : new FileFault(name, 'damaged'),
  )
  return pipeline(body, verify, () => {})
}

/** Passes chunks on, and adds them to the digest. @param check returns an error for the end of the stream */
function hashing(digest: Hash, check: () => Error | null = () => null): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      done(null, chunk)
    },
    flush: (done) => done(check()),
  })
}
