import { randomBytes } from 'node:crypto'
import type { BlobStore } from '../blobs/blob-store.ts'
import type { StagedFile, Staging } from '../blobs/staging.ts'
import type { Clock } from '../core/clock.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Dialect } from '../database/dialect.ts'
import { heldUntil } from '../database/moves.ts'
import type { ImageEngine, Inspection } from './engine/index.ts'
import type { ImageHash } from './hash.ts'
import { bytesKey, isLost } from './lost.ts'
import { findStrays } from './orphans.ts'
import { Owner, type Ownership } from './ownership.ts'
import * as queries from './queries.ts'
import type { BlobRow, ImageInfo } from './queries.ts'
import { Removals } from './removals.ts'

export interface Upload {
  readonly accountId: number
  readonly hash: ImageHash
  readonly bytes: Uint8Array
  readonly info: ImageInfo
}

export type UploadOutcome =
  { readonly kind: 'stored'; readonly blob: BlobRow } | Exclude<Inspection, { readonly kind: 'image' }>

export type OrphanSweep =
  | { readonly kind: 'swept'; readonly removed: number }
  /** Nothing was removed. */
  | Exclude<Ownership, { readonly kind: 'own' }>

/** Faults of a sweep after which it gives up: the store is in trouble, not the one blob. */
const MAX_SWEEP_FAULTS = 3

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
  readonly #owner: Owner
  readonly #removals = new Removals(async (key) => {
    // What a backup still has to copy is left to the sweep.
    if (!(await this.#isHeld())) await this.#emptyTrash(key)
  })
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
    this.#owner = new Owner(database, blobs)
    this.#forget = forget
  }

  /** When this resolves with `stored`, bytes and record survive power loss. */
  async upload(upload: Upload, signal: AbortSignal): Promise<UploadOutcome> {
    // Bytes that somebody holds were decoded before. Should they go away in between, they are stored anew.
    const known = await this.#database.first(queries.blobByHash(upload.hash))
    const held = known === undefined || isLost(known.key) ? undefined : await this.#record(upload, undefined)
    if (held !== undefined) return { kind: 'stored', blob: held }
    await this.#owner.assertOwn()
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
    if (held.key !== key) this.#removals.add(key)
    return held
  }

  /** Writes the image's row and, where nobody holds these bytes yet, `blob`. Returns the blob that is held. */
  #record({ accountId, hash, info }: Upload, blob: BlobRow | undefined): Promise<BlobRow | undefined> {
    return this.#database.transaction(async (tx) => {
      const known = await tx.first(queries.holdBlob(this.#database.dialect, hash))
      const held = known === undefined || isLost(known.key) ? undefined : known
      if (held === undefined) {
        if (blob === undefined) return undefined
        await tx.run(known === undefined ? queries.insertBlob(blob) : queries.replaceBlob(blob))
      }
      const seconds = Math.floor(this.#clock.now() / 1000)
      await tx.run(queries.upsertImage(accountId, hash, info, seconds))
      return held ?? blob
    })
  }

  /**
   * The image is gone when this resolves, its bytes a little later.
   * @returns false when this application has no such image
   */
  async remove(accountId: number, hash: ImageHash): Promise<boolean> {
    const outcome = await this.#database.transaction(async (tx) => {
      if ((await tx.run(queries.deleteImage(accountId, hash))) === 0) return undefined
      return { unheldKey: await releaseBlob(tx, this.#database.dialect, hash) }
    })
    if (outcome?.unheldKey !== undefined) this.#removals.add(outcome.unheldKey)
    return outcome !== undefined
  }

  /** Removed images whose bytes wait for their removal. */
  get waitingRemovals(): number {
    return this.#removals.waiting
  }

  async hasTrash(): Promise<boolean> {
    return (await this.#database.first(queries.trash(1))) !== undefined
  }

  /**
   * Removes blobs that nobody holds any more, those that an interrupted removal left. A key in the trash never comes back
   * into use, so this may run twice at once.
   */
  async sweepTrash(signal?: AbortSignal): Promise<void> {
    const listed = await this.#database.all(queries.trash(1_000))
    // Asked after the list: a backup that begins later does not have these.
    if (await this.#isHeld()) return
    let faults = 0
    for (const { key } of listed) {
      if (signal?.aborted === true) return
      try {
        await this.#emptyTrash(key)
      } catch (error) {
        if (++faults === MAX_SWEEP_FAULTS) throw error
      }
    }
  }

  /**
   * Removes blobs that no row knows, unless they may be another database's: what an upload leaves that was cut off between
   * its bytes and its row. A key that is old and in no row never comes into use, so this may run twice at once.
   * @param minAgeMs younger ones may belong to an upload that is under way. Clocks of nodes and of the store may differ by
   *   this, less the time of an upload
   */
  async sweepOrphans(minAgeMs: number, signal?: AbortSignal): Promise<OrphanSweep> {
    const ownership = await this.#owner.check()
    if (ownership.kind !== 'own') return ownership
    let removed = 0
    for await (const { orphans } of findStrays(this.#database, this.#blobs, this.#clock.now() - minAgeMs)) {
      if (signal?.aborted === true) break
      if (orphans.length > 0 && (await this.#isHeld())) break
      for (const key of orphans) {
        await this.#blobs.remove(key)
        removed++
      }
    }
    return { kind: 'swept', removed }
  }

  /** Rejects when the store cannot be used, or is not this database's. */
  async ping(): Promise<void> {
    await this.#blobs.ping()
    await this.#owner.assertOwn()
  }

  /** Waits a little for removals under way. */
  close(): Promise<void> {
    return this.#removals.close()
  }

  /** Whether a backup is under way, which may still have to copy what no record names any more. */
  async #isHeld(): Promise<boolean> {
    return (await heldUntil(this.#database, this.#clock.now())) !== undefined
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
  const key = bytesKey(blob.key)
  await tx.run(queries.addTrash(key))
  return key
}
