import type { Gate } from '../lib/gate.ts'
import type { DerivativeFolder } from './derivative-folder.ts'
import { abortable, batchesOf } from '../lib/concurrency.ts'
import { SERVICE, type Caller } from '../lib/client.ts'
import { lruCache } from '../lib/lru-cache.ts'
import { isBlobKey } from '../storage/blobs/blob-store.ts'
import type { Derivation, DerivedImage } from './decoder/index.ts'

/** Limit on derivatives that are held in memory while they are written. Further ones are not stored. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024
/** A derivative that took too long or crashed its decoder is not tried again for this long: each attempt occupies a decoder. */
export const RETRY_SECONDS = 600
const MAX_FAILED = 1_000
/** Created once: every flight ends with an abort, whose default reason is an error with a stack. */
const ABANDONED = new Error('nobody waits for the derivative')
/** Keys per query. */
const BATCH = 200

/** Renders a derivative; undefined if the original was deleted. @param signal aborts when nobody waits for it any more */
export type Render = (signal: AbortSignal) => Promise<Derivation | undefined>

/** Returns which of these blobs still exist. */
export type FindExisting = (blobKeys: readonly string[]) => Promise<ReadonlySet<string>>

/** A derivative that several requests may wait for. */
interface Flight {
  readonly blobKey: string
  readonly name: string
  readonly stored: Promise<DerivedImage | undefined>
  /** Aborts when it is rendered, in the turn of one of those who wait. */
  readonly begun: AbortController
  readonly rendered: PromiseWithResolvers<Derivation | undefined>
  /** Aborts when nobody waits any more. */
  readonly abandoned: AbortController
  users: number
}

/**
 * Finds derivatives in a folder, or renders them in turns of clients. It does not decide whether an image may be served: callers
 * have read its record before, and blob keys are never reused. So whatever a deletion leaves behind is only bytes on a disk,
 * never an answer.
 */
export class DerivativeCache {
  readonly #folder: DerivativeFolder | undefined
  readonly #gate: Gate
  readonly #findExisting: FindExisting
  readonly #flights = new Map<string, Flight>()
  readonly #writes = new Set<Promise<void>>()
  readonly #failed = lruCache<Derivation>(MAX_FAILED, { ttl: RETRY_SECONDS * 1_000 })
  #pendingBytes = 0
  diskHits = 0
  rendered = 0

  constructor(folder: DerivativeFolder | undefined, gate: Gate, findExisting: FindExisting) {
    this.#folder = folder
    this.#gate = gate
    this.#findExisting = findExisting
  }

  /**
   * Equal concurrent requests share one computation. Each waits for a turn of its own client, and the first turn serves all: nobody
   * is delayed by the line of another client.
   * @throws OverloadError if too many requests wait, or this one waited too long
   */
  async get(
    blobKey: string,
    name: string,
    render: Render,
    caller: Caller = SERVICE,
  ): Promise<Derivation | undefined> {
    if (!isBlobKey(blobKey)) return undefined
    const key = `${blobKey}/${name}`
    const failed = this.#failed.get(key)
    if (failed !== undefined) return failed
    const flight = this.#flights.get(key) ?? this.#prepare(blobKey, name, key)
    flight.users++
    try {
      const stored = await flight.stored
      if (stored !== undefined) return stored
      await this.#takeTurn(flight, caller, async () => {
        const derived = await render(flight.abandoned.signal)
        if (derived?.kind === 'image') this.#store(flight, derived.bytes, key)
        if (derived?.kind === 'too-slow' || derived?.kind === 'crashed') this.#failed.set(key, derived)
        return derived
      })
      return await abortable(flight.rendered.promise, caller.signal)
    } finally {
      this.#leave(key, flight)
    }
  }

  #prepare(blobKey: string, name: string, key: string): Flight {
    const stored = this.#folder?.read(blobKey, name).then((found) => {
      if (found !== undefined) this.diskHits++
      return found
    })
    const flight: Flight = {
      blobKey,
      name,
      stored: stored ?? Promise.resolve(undefined),
      begun: new AbortController(),
      rendered: Promise.withResolvers(),
      abandoned: new AbortController(),
      users: 0,
    }
    // All who waited may have left.
    flight.rendered.promise.catch(() => {})
    this.#flights.set(key, flight)
    return flight
  }

  /** Waits until the flight begins, in the turn of this caller or of another one. */
  async #takeTurn(
    { begun, rendered }: Flight,
    { client, signal }: Caller,
    work: () => Promise<Derivation | undefined>,
  ): Promise<void> {
    let leave
    try {
      leave = await this.#gate.enter(client, AbortSignal.any([signal, begun.signal]))
    } catch (error) {
      if (begun.signal.aborted) return
      throw error
    }
    if (begun.signal.aborted) return leave()
    begun.abort()
    this.rendered++
    rendered.resolve(work().finally(leave))
  }

  /** After the last one, the next request starts again. */
  #leave(key: string, flight: Flight): void {
    if (--flight.users > 0) return
    this.#flights.delete(key)
    flight.abandoned.abort(ABANDONED)
  }

  /** Stores an image in the background: the answer does not wait for a disk. Until then, the flight serves further requests. */
  #store(flight: Flight, bytes: Uint8Array, key: string): void {
    const { blobKey, name } = flight
    const size = bytes.byteLength
    if (this.#folder === undefined || this.#pendingBytes + size > MAX_PENDING_BYTES) return
    this.#pendingBytes += size
    flight.users++
    const pending = this.#folder
      .write(blobKey, name, bytes)
      // After the write: a deletion that commits later removes the derivative itself.
      .then(async () => {
        if (!(await this.#findExisting([blobKey])).has(blobKey)) await this.forget(blobKey)
      })
      // What a failed query or deletion leaves behind, the hourly sweep removes.
      .catch(() => {})
      .finally(() => {
        this.#pendingBytes -= size
        this.#writes.delete(pending)
        this.#leave(key, flight)
      })
    this.#writes.add(pending)
  }

  /** Approximate disk usage of derivatives on this machine. */
  get bytes(): number {
    return this.#folder?.bytes ?? 0
  }

  /** Removes all derivatives of a blob. @throws if some may be left */
  async forget(blobKey: string): Promise<void> {
    // A key that an edited database names has none.
    if (isBlobKey(blobKey)) await this.#folder?.remove(blobKey)
  }

  /** Enforces the size limit of this machine's folder and removes derivatives of images that any node has deleted. */
  async sweep(stop: AbortSignal): Promise<void> {
    const folder = this.#folder
    if (folder === undefined) return
    await folder.sweep(stop)
    for await (const batch of batchesOf(folder.blobKeys(stop), BATCH)) {
      const existing = await this.#findExisting(batch)
      for (const blobKey of batch) if (!existing.has(blobKey)) await folder.remove(blobKey)
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#writes)
    await this.#folder?.stop()
  }
}
