import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { BlobDamaged, type BlobStore, isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Staging } from '../../storage/blobs/staging.ts'
import { digested } from '../../lib/bytes.ts'
import { forEachConcurrent, withRetries, type Progress } from '../../lib/concurrency.ts'
import { hashOfDigest } from '../../imagestore/image-fields.ts'
import { verifyBlob } from '../../imagestore/blobs.ts'

/** Images copied concurrently. */
const CONCURRENCY = 8
/** Some 20 s in all, so that short trouble of a store does not end hours of work. */
const RETRIES = { attempts: 6, firstPauseMs: 800 }
/** Images that could not be copied are listed up to this number, and counted beyond. */
const MAX_LISTED_FAULTS = 100

/** The bytes of an image, as recorded in the database. */
export interface ImageBytes {
  readonly hash: string
  readonly key: string
  readonly size: number
}

interface CopyTarget {
  readonly blobs: BlobStore
  readonly staging: Staging
}

interface Fault {
  readonly key: string
  /** `missing`: the source does not have it. `damaged`: its bytes do not match the recorded hash, or its key is invalid. */
  readonly kind: 'missing' | 'damaged'
}

export interface CopyResult {
  readonly copied: number
  readonly copiedBytes: number
  readonly present: number
  /** Bytes of all images, copied or not. */
  readonly bytes: number
  readonly faultCount: number
  /** The first faults. */
  readonly faults: readonly Fault[]
}

export interface CopyOptions {
  readonly count: number
  /** Also reads images that the target has, and replaces those whose hash differs. */
  readonly check: boolean
  readonly progress: Progress
}

/** Copies the images that the target does not have. */
export async function copyImages(
  images: AsyncIterable<ImageBytes>,
  source: BlobStore,
  target: CopyTarget,
  { count, check, progress }: CopyOptions,
): Promise<CopyResult> {
  const result = { copied: 0, copiedBytes: 0, present: 0, bytes: 0, faultCount: 0 }
  const faults: Fault[] = []
  progress.begin('image files', count)
  await forEachConcurrent(images, CONCURRENCY, async (image) => {
    const outcome = await withRetries(() => copy(image, source, target, check), RETRIES)
    result.bytes += image.size
    if (outcome === 'copied') {
      result.copied++
      result.copiedBytes += image.size
    } else if (outcome === 'present') {
      result.present++
    } else {
      result.faultCount++
      if (faults.length < MAX_LISTED_FAULTS) faults.push({ key: image.key, kind: outcome })
    }
    progress.add(1)
  })
  progress.end()
  return { ...result, faults }
}

async function copy(
  image: ImageBytes,
  source: BlobStore,
  target: CopyTarget,
  check: boolean,
): Promise<'copied' | 'present' | Fault['kind']> {
  if (!isBlobKey(image.key)) return 'damaged'
  const state = check ? await verifyBlob(target.blobs, image.key, image) : await exists(image, target.blobs)
  if (state === 'valid') return 'present'
  const body = await openImage(image, source)
  if (body === 'missing' || body === 'damaged') return body
  const digest = createHash('sha256')
  await using staged = await target.staging.write(digested(body, digest))
  if (hashOfDigest(digest.digest()) !== image.hash) return 'damaged'
  // Stores do not overwrite a key.
  if (state === 'damaged') await target.blobs.remove(image.key)
  await target.blobs.put(image.key, staged)
  return 'copied'
}

async function exists({ key }: ImageBytes, store: BlobStore): Promise<'valid' | 'missing'> {
  const empty = await store.stream(key, 0, -1)
  empty?.destroy()
  return empty === undefined ? 'missing' : 'valid'
}

async function openImage({ key, size }: ImageBytes, store: BlobStore): Promise<Readable | Fault['kind']> {
  try {
    return (await store.stream(key, 0, size - 1)) ?? 'missing'
  } catch (error) {
    if (error instanceof BlobDamaged) return 'damaged'
    throw error
  }
}
