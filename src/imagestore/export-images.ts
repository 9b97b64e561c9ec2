import { randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { escapeHidden } from '../lib/text.ts'
import { createFile, makeFolder } from '../lib/private-files.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { Database } from '../storage/database/database.ts'
import { isLost } from './blobs.ts'
import { toFields, type BlobRow, type ImageRow } from './image-fields.ts'
import { blobByHash, imagePage } from './queries.ts'

const PAGE = 500
/** Lists what was exported, next to the folder of images. */
export const MANIFEST = 'images.ndjson'
const FOLDER = 'images'

export interface ExportTotals {
  readonly written: number
  /** Written by an earlier run. */
  readonly present: number
  /** Hashes of images whose bytes are not in the store. */
  readonly missing: readonly string[]
}

export interface ImageExport {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  readonly accountId: number
  readonly folder: string
  /** Called after each image with the bytes written. */
  readonly onProgress: () => void
}

/**
 * Writes an application's images and a manifest from which they can be imported. The manifest gets its name when everything
 * is there: an interrupted export leaves none, and the next one writes only what is missing.
 */
export async function exportImages(options: ImageExport): Promise<ExportTotals> {
  const { folder, onProgress } = options
  await makeFolder(join(folder, FOLDER))
  const temporary = join(folder, `.${MANIFEST}.${randomBytes(4).toString('hex')}`)
  const manifest = await createFile(temporary)
  const count = { written: 0, present: 0 }
  const missing: string[] = []
  try {
    for await (const image of allImages(options)) {
      const blob = await options.database.first(blobByHash(image.hash))
      // Deleted after the page was read.
      if (blob === undefined) continue
      const file = `${FOLDER}/${blob.hash.slice(0, 2)}/${blob.hash}.${blob.format}`
      const outcome = await writeImage(options.blobs, blob, join(folder, file))
      if (outcome === 'missing') {
        missing.push(image.hash)
        continue
      }
      count[outcome]++
      await manifest.write(`${escapeHidden(JSON.stringify({ file, ...toFields('export', image) }))}\n`)
      onProgress()
    }
    await manifest.sync()
    await rename(temporary, join(folder, MANIFEST))
  } finally {
    await manifest.close()
    await rm(temporary, { force: true })
  }
  return { ...count, missing }
}

/** Newest first, page by page. */
async function* allImages({ database, clock, accountId }: ImageExport): AsyncGenerator<ImageRow> {
  for (let after: { key: number; hash: string } | undefined; ;) {
    const page = { accountId, now: secondsOf(clock), after, limit: PAGE }
    const rows = await database.scanner.all(imagePage(database.dialect, page))
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < PAGE) return
    after = { key: last.date, hash: last.hash }
  }
}

async function writeImage(
  blobs: BlobStore,
  blob: BlobRow,
  path: string,
): Promise<'written' | 'present' | 'missing'> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.size === blob.size) return 'present'
  const bytes = isLost(blob.key) ? undefined : await blobs.read(blob.key, blob.size)
  if (bytes === undefined) return 'missing'
  await makeFolder(join(path, '..'))
  const temporary = `${path}.new`
  // An interrupted run may have left one.
  await rm(temporary, { force: true })
  {
    await using file = await createFile(temporary)
    await file.writeFile(bytes)
    await file.sync()
  }
  await rename(temporary, path)
  return 'written'
}
