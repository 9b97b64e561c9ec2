import { randomBytes } from 'node:crypto'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import type { StagedFile, Staging } from '../storage/blobs/staging.ts'
import type { Clock } from '../lib/clock.ts'
import { StorageFault } from '../storage/database/faults.ts'
import type { Database } from '../storage/database/database.ts'
import { heldUntil } from '../storage/database/transfer-marks.ts'
import { Requesters, type ImageEngine, type Inspection } from './decoder/index.ts'
import type { ImageHash } from './hash.ts'
import { secondsOf, sweepOver, takeAway, takeAwayOver } from './lifetime.ts'
import { isLost } from './lost.ts'
import { findStrays } from './orphans.ts'
import { Owner, type Ownership } from './ownership.ts'
import * as queries from './queries.ts'
import type { BlobRow, ImageInfo } from './queries.ts'
import { holdLimits, overImagesOf } from './queries-quotas.ts'
import { fullness, type Full } from './quota.ts'
import { Removals } from './removals.ts'
import { expiryAfter, isOver, noteUpload, uploadersBefore, withdrawUpload } from './uploads.ts'

export interface Upload {
  readonly accountId: number
  readonly hash: ImageHash
  readonly bytes: Uint8Array
  readonly info: ImageInfo
  /** Seconds since 1970; unless it is given, now. */
  readonly date?: number | undefined
  /** The id of the key, if that sees only what it uploaded itself. */
  readonly uploader?: string | undefined
}

export type UploadOutcome =
  { readonly kind: 'stored'; readonly blob: BlobRow } | Full | Exclude<Inspection, { readonly kind: 'image' }>

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
    if (held !== undefined) return held
    const full = await this.#fullness(upload)
    if (full !== undefined) return full
    await this.#owner.assertOwn()
    const staged = await this.#staging.write(upload.bytes)
    try {
      const requesters = new Requesters(clientOf(upload))
      const inspection = await this.#engine.inspect(staged.path, signal, requesters)
      if (inspection.kind !== 'image') return inspection
      return await this.#store(upload, staged, inspection)
    } finally {
      await staged.discard()
    }
  }

  /** A look before the work. It decides nothing for those with images that are over: these make room when it matters. */
  async #fullness({ accountId, hash, bytes }: Upload): Promise<Full | undefined> {
    const full = await fullness(this.#database, { accountId, hash, size: bytes.byteLength })
    if (full === undefined) return undefined
    const over = await this.#database.first(overImagesOf(accountId, secondsOf(this.#clock), 1))
    return over === undefined ? full : undefined
  }

  async #store(
    upload: Upload,
    staged: StagedFile,
    inspection: Extract<Inspection, { kind: 'image' }>,
  ): Promise<UploadOutcome> {
    const { kind: _, ...inspected } = inspection
    const key = `${upload.hash}.${randomBytes(6).toString('hex')}`
    await this.#blobs.put(key, staged, clientOf(upload))
    const blob = { hash: upload.hash, key, size: staged.size, ...inspected }
    const outcome = await this.#record(upload, blob).catch((error: unknown) => {
      // Of other failures nobody knows whether they came after the commit: there the sweep finds out, later.
      if (isUncommitted(error)) this.#removals.add(key)
      throw error
    })
    if (outcome === undefined) throw new Error('the blob just inserted is not there')
    if (outcome.kind === 'full' || outcome.blob.key !== key) this.#removals.add(key)
    return outcome
  }

  /**
   * Writes the image's row and, where nobody holds these bytes yet, `blob`. Tells which blob is held, or which of the
   * application's bounds is in the way: it holds its limits meanwhile, so uploads at once, on any node, are counted one
   * after the other.
   */
  async #record(
    { accountId, hash, bytes, info, date, uploader }: Upload,
    blob: BlobRow | undefined,
  ): Promise<{ readonly kind: 'stored'; readonly blob: BlobRow } | Full | undefined> {
    const { dialect } = this.#database
    const { outcome, unheld } = await this.#database.transaction(async (tx) => {
      const now = secondsOf(this.#clock)
      const image = { accountId, hash, size: bytes.byteLength }
      const unheld: string[] = []
      const limits = await tx.first(holdLimits(dialect, accountId))
      let full = limits && (await fullness(tx, image, limits))
      while (full !== undefined) {
        const keys = await takeAwayOver(tx, dialect, accountId, now)
        if (keys === undefined) return { outcome: full, unheld }
        unheld.push(...keys)
        full = await fullness(tx, image, limits)
      }
      const known = await tx.first(queries.holdBlob(dialect, hash))
      const held = known === undefined || isLost(known.key) ? blob : known
      if (held === undefined) return { outcome: undefined, unheld }
      if (held === blob) {
        await tx.run(known === undefined ? queries.insertBlob(blob) : queries.replaceBlob(blob))
      }
      const before = await uploadersBefore(tx, image, now)
      const expires = expiryAfter(before, uploader, info.expires)
      await tx.run(queries.upsertImage(accountId, hash, { ...info, expires }, date ?? now))
      await noteUpload(tx, image, before, uploader)
      return { outcome: { kind: 'stored' as const, blob: held }, unheld }
    }, accountId)
    for (const key of unheld) this.#removals.add(key)
    return outcome
  }

  /**
   * The image is gone when this resolves, its bytes a little later.
   * @param uploader the id of a key that deletes only what it uploaded itself: what others uploaded too stays for them
   * @returns false when this application, or that key, has no such image
   */
  async remove(accountId: number, hash: ImageHash, uploader?: string): Promise<boolean> {
    const { dialect } = this.#database
    const taken = await this.#database.transaction(
      async (tx) => {
        const now = secondsOf(this.#clock)
        if (uploader !== undefined) {
          await tx.first(queries.holdBlob(dialect, hash))
          const image = await tx.first(queries.expiryOf(accountId, hash))
          if (image === undefined || isOver(image, now)) return undefined
          const state = await withdrawUpload(tx, { accountId, hash }, uploader)
          if (state !== 'last') return state === 'withdrawn' ? { unheldKey: undefined } : undefined
        }
        return takeAway(tx, dialect, hash, queries.deleteImage(accountId, hash, now))
      },
      accountId,
      'free-space',
    )
    if (taken?.unheldKey !== undefined) this.#removals.add(taken.unheldKey)
    return taken !== undefined
  }

  /** Removes what is over. */
  sweepOver(signal?: AbortSignal): Promise<void> {
    return sweepOver(this.#database, this.#clock, (key) => this.#removals.add(key), signal)
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
    await this.#database.transaction((tx) => tx.run(queries.removeTrash(key)), undefined, 'free-space')
  }
}

/** Whether the transaction that failed left nothing. A retried upload must not fill a disk that has just got room again. */
const isUncommitted = (error: unknown): boolean =>
  error instanceof StorageFault && (error.kind === 'full' || error.kind === 'read-only')

/** What an application is called where clients take turns; public links go by address. */
const clientOf = ({ accountId }: Upload): string => `account ${accountId}`
