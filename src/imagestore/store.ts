import { randomBytes } from 'node:crypto'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { StagedFile, Staging } from '../storage/blobs/staging.ts'
import { secondsOf, type Clock } from '../lib/clock.ts'
import { lruCache } from '../lib/lru-cache.ts'
import { accountClient, SERVICE } from '../lib/client.ts'
import { Gate } from '../lib/gate.ts'
import type { Database, Transaction } from '../storage/database/database.ts'
import { StorageFault } from '../storage/database/faults.ts'
import { heldUntil } from '../storage/database/transfer-marks.ts'
import { findUnreferenced, isLost, StoreOwnership, type Ownership } from './blobs.ts'
import type { ImageEngine, Inspection } from './decoder/index.ts'
import type { ImageHash, BlobRow, ImageRow } from './image-fields.ts'
import * as queries from './queries.ts'
import { lockLimits, allBans } from './queries-settings.ts'
import { checkQuota, isBanned, type NewImage, type QuotaExceeded } from './account-policy.ts'
import * as records from './image-records.ts'

export interface Upload {
  readonly accountId: number
  readonly hash: ImageHash
  readonly bytes: Uint8Array
  readonly info: queries.ImageInfo
  /** Seconds since 1970. Default: now. */
  readonly date?: number | undefined
  /** The id of the key, if it sees only its own uploads. */
  readonly uploader?: string | undefined
  /** Whether an image that the application has already keeps its name and date. */
  readonly keepsExisting?: boolean
  /** Types that the bytes may have. Default: all. */
  readonly types?: readonly string[] | undefined
}

export interface ImageStoreOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly staging: Staging
  readonly engine: ImageEngine
  readonly clock: Clock
  /** Removes the derivatives of a blob; rejects if some may be left. */
  readonly forget: (key: string) => Promise<void>
}

type Stored = { readonly kind: 'stored'; readonly blob: BlobRow; readonly image: ImageRow }
type Refusal = Extract<Inspection, { readonly kind: 'damaged' }>
type InspectedUpload = Extract<Inspection, { readonly kind: 'image' }>
type OtherType = { readonly kind: 'other-type'; readonly mime: string }
type Banned = { readonly kind: 'banned' }
export type UploadOutcome = Stored | Banned | QuotaExceeded | OtherType | Exclude<Inspection, InspectedUpload>

export type OrphanSweep =
  | { readonly kind: 'swept'; readonly removed: number }
  /** Nothing was removed. */
  | Exclude<Ownership, { readonly kind: 'own' }>

/** Bytes that did not decode are refused without another attempt for this long. */
const REFUSAL_MS = 600_000
const MAX_REFUSALS = 10_000
const REMOVAL_BATCH_KEYS = 1_000
/** Sweeps of removed images in this process: one, and another one for what is deleted meanwhile. */
const REMOVAL_SWEEPS = { running: 1, waiting: 1 }
/** A sweep gives up after this many failures: then the whole store is failing, not single blobs. */
const MAX_SWEEP_FAILURES = 3

/**
 * Stores images and their bytes. Each write of bytes gets a key of its own (the content's hash and a random part), and a row
 * holds the current key of a hash. So the database alone decides whether bytes may be removed, in the transaction that
 * removes the last holder, and a removal never races with a new upload of the same bytes.
 */
export class ImageStore {
  readonly #options: ImageStoreOptions
  readonly #database: Database
  readonly #ownership: StoreOwnership
  readonly #removalSweeps = new Gate(REMOVAL_SWEEPS)
  /** Why bytes were refused, by their hash. */
  readonly #refusals = lruCache<Refusal>(MAX_REFUSALS, { ttl: REFUSAL_MS })

  constructor(options: ImageStoreOptions) {
    this.#options = options
    this.#database = options.database
    this.#ownership = new StoreOwnership(options.database, options.blobs)
  }

  /** When this resolves with `stored`, bytes and record survive a power failure. */
  async upload(upload: Upload, signal: AbortSignal): Promise<UploadOutcome> {
    // Bytes that an application holds were decoded before. If they are removed in the meantime, the upload stores
    // them again.
    const { accountId, hash } = upload
    const client = accountClient(accountId)
    const reader = this.#database.readerOf(client)
    const [known, bans] = await Promise.all([
      reader.first(queries.blobByHash(hash)),
      reader.all(allBans(accountId)),
    ])
    // Bytes that nobody holds have no dhash yet.
    if (isBanned(bans, hash, known?.dhash)) return { kind: 'banned' }
    if (known !== undefined && !isAllowed(upload, known)) return { kind: 'other-type', mime: known.mime }
    const held = known === undefined || isLost(known.key) ? undefined : await this.#record(upload, undefined)
    if (held !== undefined) return held
    const exceeded = await checkQuota(reader, { accountId, hash, size: upload.bytes.byteLength })
    // Expired images are removed when it matters.
    const now = secondsOf(this.#options.clock)
    if (exceeded && (await reader.first(queries.findExpiredImages(accountId, now, 1))) === undefined)
      return exceeded
    const refused = this.#refusals.get(hash)
    if (refused !== undefined) return refused
    await this.#ownership.assertOwn()
    await using staged = await this.#options.staging.write(upload.bytes)
    const inspection = await this.#options.engine.inspect(staged.path, { client, signal })
    if (inspection.kind === 'damaged') this.#refusals.set(hash, inspection)
    if (inspection.kind !== 'image') return inspection
    if (!isAllowed(upload, inspection)) return { kind: 'other-type', mime: inspection.mime }
    if (isBanned(bans, hash, inspection.dhash)) return { kind: 'banned' }
    return await this.#store(upload, staged, inspection)
  }

  async #store(upload: Upload, staged: StagedFile, inspection: InspectedUpload): Promise<UploadOutcome> {
    const { kind: _, ...inspected } = inspection
    const key = `${upload.hash}.${randomBytes(6).toString('hex')}`
    await this.#options.blobs.put(key, staged, accountClient(upload.accountId))
    const blob = { hash: upload.hash, key, size: staged.size, ...inspected }
    const outcome = await this.#record(upload, blob).catch(async (error: unknown) => {
      // Other failures may have come after the commit: the sweep of orphans finds out later.
      if (isUncommitted(error)) await this.#removeUnrecorded(key)
      throw error
    })
    if (outcome === undefined) throw new Error('the blob just inserted is not there')
    if (outcome.kind === 'full' || outcome.blob.key !== key) await this.#removeUnrecorded(key)
    return outcome
  }

  /** Removes bytes that no row has ever named. What fails is left to the sweep of orphans. */
  async #removeUnrecorded(key: string): Promise<void> {
    await this.#options.blobs.remove(key).catch(() => {})
  }

  /**
   * Writes the image's row and, if nobody holds these bytes yet, `blob`. Locks the application's limits, so concurrent uploads
   * on all nodes are counted one after the other.
   * @returns the blob that is held, or the limit that is exceeded; undefined if nobody holds these bytes and no `blob` was given
   */
  async #record(upload: Upload, blob: BlobRow | undefined): Promise<Stored | QuotaExceeded | undefined> {
    const { accountId, hash, bytes, info, date, uploader, keepsExisting = false } = upload
    const { dialect } = this.#database
    return this.#database.transaction(async (tx): Promise<Stored | QuotaExceeded | undefined> => {
      const now = secondsOf(this.#options.clock)
      const image = { accountId, hash, size: bytes.byteLength }
      const exceeded = await this.#makeRoom(tx, image, now)
      if (exceeded !== undefined) return exceeded
      const known = await tx.first(queries.lockBlob(dialect, hash))
      const held = known === undefined || isLost(known.key) ? blob : known
      if (held === undefined) return undefined
      if (held === blob)
        await tx.run(known === undefined ? queries.insertBlob(blob) : queries.replaceBlob(blob))
      const before = await records.uploadersOf(tx, image, now)
      const isKept = before !== undefined && (keepsExisting || records.isOfOthers(before, uploader))
      if (isKept) await records.prolongImage(tx, image, before, info)
      else await tx.run(queries.upsertImage(accountId, hash, info, date ?? now))
      await records.recordUploader(tx, image, before, uploader)
      const stored = await tx.first(queries.findImage(accountId, hash))
      if (stored === undefined) throw new Error('the image just stored is not there')
      return { kind: 'stored', blob: held, image: stored }
    }, accountId)
  }

  /** Removes expired images while the quota is exceeded. */
  async #makeRoom(tx: Transaction, image: NewImage, now: number): Promise<QuotaExceeded | undefined> {
    const { dialect } = this.#database
    const limits = await tx.first(lockLimits(dialect, image.accountId))
    if (limits === undefined) return undefined
    for (;;) {
      const exceeded = await checkQuota(tx, image, limits)
      if (exceeded === undefined) return undefined
      const isFreed = await records.removeExpiredOf(tx, dialect, image.accountId, now)
      if (!isFreed) return exceeded
    }
  }

  /**
   * Changes an image.
   * @param uploader the id of a key that edits only its own uploads
   * @returns `shared` if others of the application hold what that key uploaded; undefined if this application, or that key, has
   *   no such image
   */
  update(
    accountId: number,
    hash: ImageHash,
    changes: queries.ImageChanges,
    uploader?: string,
  ): Promise<ImageRow | 'shared' | undefined> {
    return this.#database.transaction(async (tx) => {
      const image = await this.#lockEditable(tx, { accountId, hash }, uploader)
      if (image === 'shared' || image === undefined) return image
      if (image.trashed_at !== null) return undefined
      if (Object.values(changes).some((value) => value !== undefined))
        await tx.run(queries.updateImage(accountId, hash, changes))
      return tx.first(queries.findImage(accountId, hash))
    }, accountId)
  }

  /**
   * Moves an image to the trash, or back; it may be there already.
   * @param uploader the id of a key that moves only its own uploads
   * @returns when it was moved to the trash, in seconds since 1970, and null if it was taken back; else as `update`
   */
  setTrashed(
    accountId: number,
    hash: ImageHash,
    isTrashed: boolean,
    uploader?: string,
  ): Promise<Pick<queries.Lifetime, 'trashed_at'> | 'shared' | undefined> {
    return this.#database.transaction(async (tx) => {
      const image = await this.#lockEditable(tx, { accountId, hash }, uploader)
      if (image === 'shared' || image === undefined) return image
      if ((image.trashed_at !== null) === isTrashed) return image
      const moved = { trashed_at: isTrashed ? secondsOf(this.#options.clock) : null }
      await tx.run(queries.updateImage(accountId, hash, moved))
      return moved
    }, accountId)
  }

  /** Locks an image that has not expired, and checks that the key may change it. */
  async #lockEditable(
    tx: Transaction,
    image: records.LockedImage,
    uploader: string | undefined,
  ): Promise<queries.Lifetime | 'shared' | undefined> {
    await tx.first(queries.lockBlob(this.#database.dialect, image.hash))
    const now = secondsOf(this.#options.clock)
    const lifetime = await tx.first(queries.findLifetime(image.accountId, image.hash))
    if (lifetime === undefined || records.isExpired(lifetime, now)) return undefined
    const uploaders = await records.uploadersOf(tx, image, now)
    if (uploaders === undefined) return undefined
    if (uploader !== undefined && !uploaders.keys.includes(uploader)) return undefined
    return records.isOfOthers(uploaders, uploader) ? 'shared' : lifetime
  }

  /**
   * The image is gone when this resolves, its bytes a little later.
   * @param uploader the id of a key that deletes only its own uploads: what others uploaded too stays for them
   * @returns false if this application, or that key, has no such image
   */
  async remove(accountId: number, hash: ImageHash, uploader?: string): Promise<boolean> {
    const { dialect } = this.#database
    const isRemoved = await this.#database.transaction(
      async (tx) => {
        const now = secondsOf(this.#options.clock)
        if (uploader !== undefined) {
          await tx.first(queries.lockBlob(dialect, hash))
          const image = await tx.first(queries.findLifetime(accountId, hash))
          if (image === undefined || records.isExpired(image, now)) return false
          const state = await records.withdrawUpload(tx, { accountId, hash }, uploader)
          if (state !== 'last') return state === 'withdrawn'
        }
        return records.removeRecord(tx, dialect, hash, queries.deleteImage(accountId, hash, now))
      },
      accountId,
      { purpose: 'free-space' },
    )
    if (isRemoved) this.#sweepRemovalsSoon()
    return isRemoved
  }

  async sweepExpired(signal?: AbortSignal): Promise<void> {
    await records.sweepExpired(this.#database, this.#options.clock, signal)
    this.#sweepRemovalsSoon()
  }

  /** The number of deleted images whose bytes are still to be removed. */
  async waitingRemovals(): Promise<number> {
    return (await this.#database.first(queries.countRemovals()))?.count ?? 0
  }

  /** Removes the bytes of deleted images. Safe to run concurrently: a removed key is never used again. */
  async sweepRemovals(signal?: AbortSignal): Promise<void> {
    const listed = await this.#database.all(queries.pendingRemovals(REMOVAL_BATCH_KEYS))
    // Checked after the list: a backup that starts later does not contain these.
    if (await this.#isBackupRunning()) return
    let failures = 0
    for (const { key } of listed) {
      if (signal?.aborted === true) return
      try {
        await this.#finishRemoval(key)
      } catch (error) {
        if (++failures === MAX_SWEEP_FAILURES) throw error
      }
    }
  }

  /** Sweeps in the background, so that a hanging store delays no answer. What it leaves is swept every minute. */
  #sweepRemovalsSoon(): void {
    this.#removalSweeps.run(SERVICE.client, () => this.sweepRemovals()).catch(() => {})
  }

  /**
   * Removes blobs without a row, which an upload leaves that is interrupted between its bytes and its row, if the store is
   * ours. Safe to run concurrently: an old key without a row is never used again.
   * @param minAgeMs younger blobs may belong to a running upload. Also the tolerated difference between the clocks of nodes
   *   and of the store
   */
  async sweepOrphans(minAgeMs: number, signal?: AbortSignal): Promise<OrphanSweep> {
    const ownership = await this.#ownership.check()
    if (ownership.kind !== 'own') return ownership
    const since = this.#options.clock.now() - minAgeMs
    let removed = 0
    for await (const { orphans } of findUnreferenced(this.#database, this.#options.blobs, since)) {
      if (signal?.aborted === true) break
      if (orphans.length > 0 && (await this.#isBackupRunning())) break
      for (const key of orphans) {
        await this.#options.blobs.remove(key)
        removed++
      }
    }
    return { kind: 'swept', removed }
  }

  /** Rejects if the store is unavailable or does not belong to this database. */
  async ping(): Promise<void> {
    await this.#options.blobs.ping()
    await this.#ownership.assertOwn()
  }

  /** A running backup may still have to copy bytes that no row names any more. */
  async #isBackupRunning(): Promise<boolean> {
    return (await heldUntil(this.#database, this.#options.clock.now())) !== undefined
  }

  async #finishRemoval(key: string): Promise<void> {
    await this.#options.blobs.remove(key)
    await this.#options.forget(key)
    await this.#database.transaction((tx) => tx.run(queries.endRemoval(key)), undefined, {
      purpose: 'free-space',
    })
  }
}

const isAllowed = ({ types }: Upload, { mime }: { readonly mime: string }): boolean =>
  types === undefined || types.includes(mime)

/** Whether the failed transaction changed nothing. Its bytes go: retried uploads must not fill a disk that is full. */
const isUncommitted = (error: unknown): boolean =>
  error instanceof StorageFault && (error.kind === 'full' || error.kind === 'read-only')
