import { randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { makeFolder } from '../../storage/blobs/durable.ts'
import type { Clock } from '../../lib/clock.ts'
import { escapeJson } from '../../lib/free-text.ts'
import { createFile } from '../../lib/private-files.ts'
import type { Database } from '../../storage/database/database.ts'
import { secondsOf } from '../lifetime.ts'
import { isLost } from '../lost.ts'
import { blobByHash, imagePage, type BlobRow, type ImageRow } from '../queries.ts'

const PAGE = 500
/** The list of what was exported, beside the images' folder. */
export const MANIFEST = 'images.ndjson'
const FOLDER = 'images'

export interface ExportTotals {
  readonly written: number
  /** Written by an earlier run. */
  readonly present: number
  /** Bytes that are not in the store; the first of them are told. */
  readonly missing: readonly string[]
}

export interface ImageExport {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly accountId: number
  readonly folder: string
  readonly done: (bytes: number) => void
}

/**
 * Writes an application's images and a list that imports them again. The list takes its name when all is
 * there: an interrupted export leaves none, and the next one writes only what is missing.
 */
export async function exportImages(options: ImageExport): Promise<ExportTotals> {
  const { folder, done } = options
  await makeFolder(join(folder, FOLDER))
  const list = join(folder, `.${MANIFEST}.${randomBytes(4).toString('hex')}`)
  const manifest = await createFile(list)
  let [written, present] = [0, 0]
  const missing: string[] = []
  try {
    for await (const image of everyImage(options)) {
      const blob = await options.database.first(blobByHash(image.hash))
      // Deleted since the page was read.
      if (blob === undefined) continue
      const file = `${FOLDER}/${blob.hash.slice(0, 2)}/${blob.hash}.${blob.format}`
      const outcome = await writeImage(options.blobs, blob, join(folder, file))
      if (outcome === 'missing') {
        missing.push(image.hash)
        continue
      }
      if (outcome === 'written') written++
      else present++
      const { name, hash, mime, date, expires } = image
      await manifest.write(`${escapeJson(JSON.stringify({ file, name, hash, mime, date, expires }))}\n`)
      done(outcome === 'written' ? blob.size : 0)
    }
    await manifest.sync()
    await rename(list, join(folder, MANIFEST))
  } finally {
    await manifest.close()
    await rm(list, { force: true })
  }
  return { written, present, missing }
}

/** Newest first, a page at a time. */
async function* everyImage({ database, clock, accountId }: ImageExport): AsyncGenerator<ImageRow> {
  for (let after: { date: number; hash: string } | undefined; ;) {
    const page = { accountId, now: secondsOf(clock), after, limit: PAGE }
    const rows = await database.scanner.all(imagePage(database.dialect, page))
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { date: last.date, hash: last.hash }
  }
}

async function writeImage(
  blobs: BlobStore,
  blob: BlobRow,
  path: string,
): Promise<'written' | 'present' | 'missing'> {
  const there = await stat(path).catch(() => undefined)
  if (there?.size === blob.size) return 'present'
  const bytes = isLost(blob.key) ? undefined : await blobs.read(blob.key, blob.size)
  if (bytes === undefined) return 'missing'
  await makeFolder(join(path, '..'))
  const fresh = `${path}.new`
  // A run that was cut off may have left one.
  await rm(fresh, { force: true })
  const file = await createFile(fresh)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path)
  return 'written'
}
