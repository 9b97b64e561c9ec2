import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { BlobDamaged, type BlobStore, isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Staging } from '../../storage/blobs/staging.ts'
import { forEachConcurrent } from '../../lib/concurrency.ts'
import { hashOfDigest } from '../../imagestore/hash.ts'
import type { Progress } from '../../lib/progress.ts'

/** Images copied at a time. */
const AT_ONCE = 8
/** A store that fails is asked again, so that work of hours does not end with a minute of trouble; the pause doubles. */
const ATTEMPTS = 6
const FIRST_PAUSE_MS = 500
/** Images that could not be copied are listed up to here, and counted beyond. */
const MAX_LISTED = 100

/** The bytes of an image, as a record names them. */
export interface ImageBytes {
  readonly hash: string
  readonly key: string
  readonly size: number
}

export interface Side {
  readonly blobs: BlobStore
  readonly staging: Staging
}

export interface Fault {
  readonly key: string
  /** `missing`: the source does not have it. `damaged`: its bytes have another hash than its record says, or its key is none. */
  readonly kind: 'missing' | 'damaged'
}

export interface CopyResult {
  readonly copied: number
  readonly copiedBytes: number
  readonly present: number
  readonly faultCount: number
  /** The first of them. */
  readonly faults: readonly Fault[]
  /** Images that went away at the source while we copied. */
  readonly gone: number
}

export interface CopyOptions {
  /** What is there already is read again and compared with its hash, and replaced where that differs. */
  readonly check: boolean
  /** Whether a missing image is still recorded at the source. */
  readonly isRecorded: (key: string) => Promise<boolean>
  readonly progress: Progress
}

/** Copies those bytes that the target does not have, and reads back each that was written. */
export async function copyImages(
  images: AsyncIterable<ImageBytes>,
  source: BlobStore,
  target: Side,
  { check, isRecorded, progress }: CopyOptions,
): Promise<CopyResult> {
  const result = { copied: 0, copiedBytes: 0, present: 0, faultCount: 0, gone: 0 }
  const faults: Fault[] = []

  await forEachConcurrent(images, AT_ONCE, async (image) => {
    const outcome = await persist(() => copy(image, source, target, check))
    if (outcome === 'copied') {
      result.copied++
      result.copiedBytes += image.size
    } else if (outcome === 'present') {
      result.present++
    } else if (await isRecorded(image.key)) {
      result.faultCount++
      if (faults.length < MAX_LISTED) faults.push({ key: image.key, kind: outcome })
    } else {
      result.gone++
    }
    progress.add(1, outcome === 'copied' || (check && outcome === 'present') ? image.size : 0)
  })
  return { ...result, faults }
}

async function copy(
  image: ImageBytes,
  source: BlobStore,
  target: Side,
  check: boolean,
): Promise<'copied' | 'present' | Fault['kind']> {
  if (!isBlobKey(image.key)) return 'damaged'
  const there = check ? await examine(image, target.blobs) : await exists(image, target.blobs)
  if (there === 'right') return 'present'
  const body = await opened(image, source)
  if (body === 'missing' || body === 'damaged') return body
  const digest = createHash('sha256')
  async function* tapped(chunks: Readable) {
    for await (const chunk of chunks) {
      digest.update(chunk)
      yield chunk
    }
  }
  const staged = await target.staging.save(tapped(body))
  try {
    if (hashOfDigest(digest.digest()) !== image.hash) return 'damaged'
    // A key is never written twice, so what is wrong goes first.
    if (there === 'damaged') await target.blobs.remove(image.key)
    await target.blobs.put(image.key, staged)
  } finally {
    await staged.discard()
  }
  const written = await examine(image, target.blobs)
  if (written !== 'right') throw new Error(`${image.key} was written and read back ${written}`)
  return 'copied'
}

/** Whether a store has an image's bytes, and the right ones. */
async function examine(image: ImageBytes, store: BlobStore): Promise<'right' | Fault['kind']> {
  const body = await opened(image, store)
  if (body === 'missing' || body === 'damaged') return body
  const digest = createHash('sha256')
  for await (const chunk of body) digest.update(chunk)
  return hashOfDigest(digest.digest()) === image.hash ? 'right' : 'damaged'
}

async function exists({ key }: ImageBytes, store: BlobStore): Promise<'right' | 'missing'> {
  const nothing = await store.stream(key, 0, -1)
  nothing?.destroy()
  return nothing === undefined ? 'missing' : 'right'
}

async function opened({ key, size }: ImageBytes, store: BlobStore): Promise<Readable | Fault['kind']> {
  try {
    return (await store.stream(key, 0, size - 1)) ?? 'missing'
  } catch (error) {
    if (error instanceof BlobDamaged) return 'damaged'
    throw error
  }
}

/** Does it again where the store failed, also in the midst of a body. */
async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS) throw error
      await pause(FIRST_PAUSE_MS * 2 ** attempt * Math.random())
    }
  }
}
