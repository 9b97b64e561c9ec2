import { createHash } from 'node:crypto'
import { pipeline, Readable, Transform } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { BlobDamaged, type BlobStore, isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Row } from '../../storage/database/rows.ts'
import type { Table } from '../../storage/database/tables.ts'
import type { BackupPlace } from './backup-place.ts'
import type { Manifest, TableFile } from './manifest.ts'
import { Cursor, type RowSource } from './pages.ts'
import type { ImageBytes } from './images.ts'
import { imagesIn } from './records.ts'
import type { Progress } from '../../lib/progress.ts'

/** Rows in one file: object stores take files of a few gigabytes only. */
const FILE_ROWS = 1_000_000
/** Lines handed on at a time. */
const PAGE = 2_000
/** Characters of a line: what is longer was not written by us, and would be held in memory whole. */
const MAX_LINE = 16 * 1024 * 1024
/** Three times as quick as the default, for a tenth more bytes. */
const LEVEL = 3

/** A file of a backup that is not as it was written. */
export class FileFault extends Error {
  readonly file: string

  constructor(file: string, what: 'missing' | 'damaged') {
    super(`${file} is ${what}`)
    this.file = file
  }
}

/** Writes all rows of a table, in as many files as it takes. */
export async function writeTable(
  place: BackupPlace,
  snapshot: string,
  table: Table,
  source: RowSource,
  progress: Progress,
): Promise<TableFile[]> {
  const rows = new Cursor(source.pages(table, 'rows'))
  const files: TableFile[] = []
  try {
    while ((await rows.fetched()) !== undefined) {
      files.push(
        await writeFile(place, `${snapshot}-${table.name}-${files.length + 1}.ndjson.gz`, rows, progress),
      )
    }
  } finally {
    await rows.close()
  }
  return files
}

async function writeFile(
  { staging, tables }: BackupPlace,
  name: string,
  rows: Cursor,
  progress: Progress,
): Promise<TableFile> {
  let count = 0
  async function* lines() {
    while (count < FILE_ROWS) {
      let text = ''
      let inPage = 0
      for (; inPage < PAGE && count < FILE_ROWS; inPage++) {
        const row = rows.row ?? (await rows.fetched())
        if (row === undefined) break
        text += `${JSON.stringify(row)}\n`
        rows.step()
        count++
      }
      if (inPage === 0) return
      progress.add(inPage)
      yield text
    }
  }
  const digest = createHash('sha256')
  // A failure reaches whoever reads the end of the pipeline.
  const compressed = pipeline(Readable.from(lines()), createGzip({ level: LEVEL }), tap(digest), () => {})
  const staged = await staging.save(compressed)
  try {
    await tables.put(name, staged)
  } finally {
    await staged.discard()
  }
  return { name, rows: count, bytes: staged.size, sha256: digest.digest('hex') }
}

/** The rows of a snapshot. Whoever reads a file to its end knows that it is as it was written. */
export function rowsOfBackup(tables: BlobStore, manifest: Manifest): RowSource {
  const backupOf = (table: Table) => manifest.tables.find(({ name }) => name === table.name)
  return {
    count: async (table) => backupOf(table)?.rows ?? 0,
    async *pages(table) {
      for (const file of backupOf(table)?.files ?? []) yield* pagesOf(tables, file)
    },
  }
}

/** The bytes of all images that a snapshot has, by hash. */
export async function* imagesOfBackup(tables: BlobStore, manifest: Manifest): AsyncGenerator<ImageBytes> {
  const table = manifest.tables.find(({ name }) => name === 'blobs')
  if (table !== undefined) yield* imagesIn(rowsOfBackup(tables, manifest), table)
}

/** What is wrong with a file; undefined where nothing is. */
export async function checkFile(tables: BlobStore, file: TableFile): Promise<FileFault | undefined> {
  try {
    for await (const _ of await opened(tables, file));
    return undefined
  } catch (error) {
    if (error instanceof FileFault) return error
    throw error
  }
}

/**
 * Why the tables that name files of the image store cannot be restored: a key in them is none, and would become a path.
 * Undefined if all are fine.
 */
export async function checkKeys(tables: BlobStore, manifest: Manifest): Promise<string | undefined> {
  for (const table of manifest.tables) {
    const at = table.name === 'blobs' || table.name === 'blob_trash' ? keyColumn(table) : -1
    if (at === -1) continue
    for await (const page of rowsOfBackup(tables, manifest).pages(table, 'rows')) {
      const wrong = page.find((row) => !isBlobKey(String(row[at])))
      if (wrong === undefined) continue
      return `${table.name} has ${JSON.stringify(String(wrong[at]).slice(0, 100))}, which is not a valid blob key`
    }
  }
  return undefined
}

const keyColumn = (table: Table) => Object.keys(table.columns).indexOf('key')

async function* pagesOf(tables: BlobStore, file: TableFile): AsyncGenerator<readonly Row[]> {
  const body = await opened(tables, file)
  const text = pipeline(body, createGunzip(), () => {})
  text.setEncoding('utf8')
  let rest = ''
  let lines: string[] = []
  for await (const chunk of text) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > MAX_LINE) throw new FileFault(file.name, 'damaged')
    lines.push(...parts)
    if (lines.length < PAGE) continue
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

/** The bytes of a file; they fail at the end when they are not those that were written. */
async function opened(tables: BlobStore, { name, bytes, sha256 }: TableFile): Promise<Readable> {
  let body: Readable | undefined
  try {
    body = await tables.stream(name, 0, bytes - 1)
  } catch (error) {
    if (error instanceof BlobDamaged) throw new FileFault(name, 'damaged')
    throw error
  }
  if (body === undefined) throw new FileFault(name, 'missing')
  const digest = createHash('sha256')
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      done(digest.digest('hex') === sha256 ? null : new FileFault(name, 'damaged'))
    },
  })
  return pipeline(body, check, () => {})
}

function tap(digest: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      digest.update(chunk)
      done(null, chunk)
    },
  })
}
