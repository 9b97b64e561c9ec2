import { randomBytes } from 'node:crypto'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { StagedFile, Staging } from '../blobs/staging.ts'
import type { Clock } from '../core/clock.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Dialect } from '../database/dialect.ts'
import type { ImageEngine, Inspection } from './engine/index.ts'
import type { ImageHash } from './hash.ts'
import * as queries from './queries.ts'
import type { BlobRow, ImageInfo } from './queries.ts'

export interface Upload {
  readonly accountId: number
  readonly hash: ImageHash
  readonly bytes: Uint8Array
  readonly info: ImageInfo
}

export type UploadOutcome =
  { readonly kind: 'stored'; readonly blob: BlobRow } | Exclude<Inspection, { readonly kind: 'image' }>

/**
 * Images and their bytes. Every write of bytes takes a key of its own (the content's hash and a random part),
 * and a row says which key holds a hash at present. So whether bytes may be removed is decided by the
 * database alone, in the transaction that takes the last holder away, and a removal never meets a new upload
 * of the same bytes.
 */
export class ImageStore {
  readonly #database: Database
  readonly #blobs: BlobStore
  readonly #staging: Staging
  readonly #engine: ImageEngine
  readonly #clock: Clock
  readonly #forget: (key: string) => Promise<void>

  /** @param forget removes what was made of a blob, and rejects when some of it may be left */
  constructor(
    database: Database,
    blobs: BlobStore,
    staging: Staging,
    engine: ImageEngine,
    clock: Clock,
    forget: (key: string) => Promise<void> = async () => {},
  ) {
    this.#database = database
    this.#blobs = blobs
    this.#staging = staging
    this.#engine = engine
    this.#clock = clock
    this.#forget = forget
  }

  /** When this resolves with `stored`, bytes and record survive power loss. */
  async upload(upload: Upload, signal: AbortSignal): Promise<UploadOutcome> {
    // Bytes that somebody holds were decoded before. Should they go away in between, they are stored anew.
    const known = await this.#database.first(queries.blobByHash(upload.hash))
    const held = known === undefined ? undefined : await this.#record(upload, undefined)
    if (held !== undefined) return { kind: 'stored', blob: held }
    const staged = await this.#staging.write(upload.bytes)
    try {
      const inspection = await this.#engine.inspect(staged.path, signal)
      if (inspection.kind !== 'image') return inspection
      return { kind: 'stored', blob: await this.#store(upload, staged, inspection) }
    } finally {
      await staged.discard()
    }
  }

  async #store(upload: Upload, staged: StagedFile, inspection: Extract<Inspection, { kind: 'image' }>) {
    const { format, mime, width, height, frames, dhash } = inspection
    const key = `${upload.hash}.${randomBytes(6).toString('hex')}`
    const blob: BlobRow = {
      hash: upload.hash,
      key,
      format,
      mime,
      size: staged.size,
      width,
      height,
      frames,
      dhash,
    }
    await this.#blobs.put(key, staged)
    // Should this fail, nobody knows whether it was committed: the sweeper finds out, later.
    const held = await this.#record(upload, blob)
    if (held === undefined) throw new Error('the blob just inserted is not there')
    if (held.key !== key) await this.#blobs.remove(key)
    return held
  }

  /** Writes the image's row and, where nobody holds these bytes yet, `blob`. Returns the blob that is held. */
  #record({ accountId, hash, info }: Upload, blob: BlobRow | undefined): Promise<BlobRow | undefined> {
    return this.#database.transaction(async (tx) => {
      const held = await tx.first(queries.holdBlob(this.#database.dialect, hash))
      if (held === undefined) {
        if (blob === undefined) return undefined
        await tx.run(queries.insertBlob(blob))
      }
      const seconds = Math.floor(this.#clock.now() / 1000)
      await tx.run(queries.upsertImage(accountId, hash, info, seconds))
      return held ?? blob
    })
  }

  /** @returns false when this application has no such image */
  async remove(accountId: number, hash: ImageHash): Promise<boolean> {
    const outcome = await this.#database.transaction(async (tx) => {
      if ((await tx.run(queries.deleteImage(accountId, hash))) === 0) return undefined
      return { unheldKey: await releaseBlob(tx, this.#database.dialect, hash) }
    })
    // The image is gone by now; should its file resist, the sweeper comes back to it.
    if (outcome?.unheldKey !== undefined) await this.#emptyTrash(outcome.unheldKey).catch(() => {})
    return outcome !== undefined
  }

  /** Removes blobs that nobody holds any more, those that an interrupted removal left. */
  async sweepTrash(): Promise<void> {
    for (const { key } of await this.#database.all(queries.trash(1_000))) await this.#emptyTrash(key)
  }

  /**
   * Removes blobs that no row knows: what an upload leaves that was cut off between its bytes and its row.
   * @param minAgeMs younger ones may belong to an upload that is under way
   */
  async sweepOrphans(minAgeMs: number): Promise<number> {
    let removed = 0
    for await (const { key, writtenAt } of this.#blobs.keys()) {
      if (this.#clock.now() - writtenAt < minAgeMs) continue
      if ((await this.#database.first(queries.blobByKey(key))) !== undefined) continue
      await this.#blobs.remove(key)
      removed++
    }
    return removed
  }

  async #emptyTrash(key: string): Promise<void> {
    await this.#blobs.remove(key)
    await this.#forget(key)
    await this.#database.transaction((tx) => tx.run(queries.removeTrash(key)))
  }
}

/** Gives up the bytes when no application holds them any more. Returns the key to remove. */
async function releaseBlob(tx: Transaction, dialect: Dialect, hash: ImageHash): Promise<string | undefined> {
  // Held first: of two who give up their images at once, the later one must see that nobody is left.
  const blob = await tx.first(queries.holdBlob(dialect, hash))
  if (blob === undefined) return undefined
  if ((await tx.first(queries.anyHolder(hash))) !== undefined) return undefined
  await tx.run(queries.deleteBlob(hash))
  await tx.run(queries.addTrash(blob.key))
  return blob.key
}
