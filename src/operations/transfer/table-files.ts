import { createHash } from 'node:crypto'
import { pipeline, Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { verifyBlob } from '../../imagestore/blobs.ts'
import { digested } from '../../lib/bytes.ts'
import { forEachConcurrent, type Progress } from '../../lib/concurrency.ts'
import { BlobDamaged, type BlobStore, isBlobKey } from '../../storage/blobs/blob-store.ts'
import { type Table, PAGE_ROWS, type Contents } from '../../storage/database/tables.ts'
import { getImages, toRows } from './instance.ts'
import type { BackupPlace, Manifest, TableFile } from './place.ts'

/** Pages per file: object stores accept files of a few gigabytes only. */
const FILE_PAGES = 500
/** Longer lines were not written by this program, and would be held in memory whole. */
const MAX_LINE_LENGTH = 16 * 1024 * 1024
/** Three times as fast as the default, for 10 % more bytes. */
const GZIP_LEVEL = 3
/** Images that are read at a time. */
const CONCURRENCY = 8

/** A file of a backup is missing or damaged. */
class FileFault extends Error {
  constructor(file: string, what: 'missing' | 'damaged') {
    super(`${file} is ${what}`)
  }
}

/** Writes all rows of a table, in as many files as needed. */
export async function writeTable(
  { staging, tables }: BackupPlace,
  snapshot: string,
  table: Table,
  contents: Contents,
  progress: Progress,
): Promise<TableFile[]> {
  const pages = contents.pages(table)[Symbol.asyncIterator]()
  let page = await pages.next()
  let count = 0
  async function* lines() {
    for (let written = 0; written < FILE_PAGES && page.done !== true; written++) {
      const rows = page.value
      yield `${rows.join('\n')}\n`
      count += rows.length
      progress.add(rows.length)
      page = await pages.next()
    }
  }
  const files: TableFile[] = []
  while (page.done !== true) {
    count = 0
    const name = `${snapshot}-${table.name}-${files.length + 1}.ndjson.gz`
    const digest = createHash('sha256')
    // A failure reaches the reader of the end of the pipeline.
    const compressed = pipeline(Readable.from(lines()), createGzip({ level: GZIP_LEVEL }), () => {})
    await using staged = await staging.write(digested(compressed, digest))
    await tables.put(name, staged)
    files.push({ name, rows: count, bytes: staged.size, sha256: digest.digest('hex') })
  }
  return files
}

/** Returns the rows of a snapshot. Reading fails at the end of a file that is damaged. */
export function getContents({ tables }: BackupPlace, manifest: Manifest): Contents {
  return {
    tables: manifest.tables,
    async *pages({ name }) {
      for (const file of manifest.tables.find((table) => table.name === name)?.files ?? [])
        yield* toPages(tables, file)
    },
  }
}

/** Reads all table files of a snapshot. Returns what is wrong with them, a line for each. */
export async function checkFiles(
  place: BackupPlace,
  manifest: Manifest,
  progress: Progress,
): Promise<string[]> {
  const files = manifest.tables.flatMap((table) => table.files)
  const faults: string[] = []
  progress.begin('files', files.length)
  for (const file of files) {
    try {
      for await (const _ of toBytes(place.tables, file));
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      faults.push(error.message)
    }
    progress.add(1)
  }
  progress.end()
  return faults.length > 0 ? faults : await checkKeys(getContents(place, manifest))
}

/** Reads every byte of a snapshot. Returns what is wrong with it, a line for each fault. */
export async function checkSnapshot(
  place: BackupPlace,
  manifest: Manifest,
  progress: Progress,
): Promise<string[]> {
  const faults = await checkFiles(place, manifest, progress)
  if (faults.length > 0) return faults
  progress.begin('image files', manifest.images.count)
  await forEachConcurrent(getImages(getContents(place, manifest)), CONCURRENCY, async (image) => {
    const state = await verifyBlob(place.images, image.key, image)
    if (state !== 'valid') faults.push(`image ${image.key} is ${state}`)
    progress.add(1)
  })
  progress.end()
  return faults
}

/** Returns an invalid key in the tables that name files of the image store, if there is one: it would become a path. */
async function checkKeys(contents: Contents): Promise<string[]> {
  for (const name of ['blobs', 'blob_trash']) {
    for await (const { key } of toRows(contents, name)) {
      const text = String(key)
      if (!isBlobKey(text))
        return [`${name} has ${JSON.stringify(text.slice(0, 100))}, which is not a valid blob key`]
    }
  }
  return []
}

async function* toPages(tables: BlobStore, file: TableFile): AsyncGenerator<readonly string[]> {
  const text = pipeline(Readable.from(toBytes(tables, file)), createGunzip(), () => {})
  text.setEncoding('utf8')
  let rest = ''
  let lines: string[] = []
  for await (const chunk of text) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop() ?? ''
    if (rest.length > MAX_LINE_LENGTH) throw new FileFault(file.name, 'damaged')
    lines.push(...parts)
    if (lines.length < PAGE_ROWS) continue
    yield lines
    lines = []
  }
  if (rest !== '') throw new FileFault(file.name, 'damaged')
  if (lines.length > 0) yield lines
}

/** Yields the bytes of a file, and fails at its end if its digest differs. */
async function* toBytes(tables: BlobStore, { name, bytes, sha256 }: TableFile): AsyncGenerator<Uint8Array> {
  const body = await tables.stream(name, 0, bytes - 1).catch((error: unknown) => {
    throw error instanceof BlobDamaged ? new FileFault(name, 'damaged') : error
  })
  if (body === undefined) throw new FileFault(name, 'missing')
  const digest = createHash('sha256')
  yield* digested(body, digest)
  if (digest.digest('hex') !== sha256) throw new FileFault(name, 'damaged')
}
