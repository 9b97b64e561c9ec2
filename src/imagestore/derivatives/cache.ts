import { batchesOf } from '../../lib/concurrency.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import { Requesters, SERVICE, type Caller } from '../../lib/requesters.ts'
import { isBlobKey } from '../../storage/blobs/blob-store.ts'
import type { Derivation, Rendered } from '../decoder/index.ts'
import { cacheAdmission, type Admission, type Admit } from './cache-admission.ts'
import type { DerivativeFolder } from './folder.ts'
import type { FindExisting, SharedDerivatives } from './shared-derivatives.ts'

/** Limit on derivatives that are held in memory while they are written. Further ones are not stored. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024
/** A derivative that took too long or crashed its decoder is not tried again for this long: each attempt occupies a decoder. */
export const RETRY_SECONDS = 600
const MAX_FAILED = 1_000
/** Keys per query. */
const BATCH = 200

/**
 * Renders a derivative; undefined if the original was deleted.
 * @param signal aborts when nobody waits for it any more
 * @param requesters the clients that request it, which may join and leave
 */
export type Render = (signal: AbortSignal, requesters: Requesters) => Promise<Derivation | undefined>

/** A computation that several requests may wait for. */
interface Flight {
  readonly result: Promise<Derivation | undefined>
  readonly abandoned: AbortController
  readonly requesters: Requesters
}

interface Id {
  readonly blobKey: string
  readonly name: string
}

const keyOf = ({ blobKey, name }: Id): string => `${blobKey}/${name}`

/**
 * Avoids rendering a derivative twice: in this process, in others of this machine, which share a folder, and on other
 * nodes, which share a store. It does not decide whether an image may be served: callers have read its record before, and
 * blob keys are never reused. So whatever a deletion leaves behind is only bytes on a disk, never an answer.
 */
export class DerivativeCache {
  readonly #folder: DerivativeFolder | undefined
  readonly #shared: SharedDerivatives | undefined
  readonly #findExisting: FindExisting
  readonly #admit: Admit
  readonly #flights = new Map<string, Flight>()
  readonly #writes = new Set<Promise<void>>()
  readonly #failed = lruCache<Derivation>(MAX_FAILED, { ttl: RETRY_SECONDS * 1_000 })
  #pendingBytes = 0
  diskHits = 0
  sharedHits = 0
  rendered = 0

  /** @param clientBytes what one client may add to folder and store before its admission is restricted */
  constructor(
    folder: DerivativeFolder | undefined,
    shared: SharedDerivatives | undefined,
    findExisting: FindExisting,
    clientBytes = Infinity,
  ) {
    this.#admit = cacheAdmission(clientBytes)
    this.#folder = folder
    this.#shared = shared
    this.#findExisting = findExisting
  }

  /**
   * Equal concurrent requests share one computation, which runs in the turn of any of their clients and is aborted when all
   * of them have left.
   */
  get(
    blobKey: string,
    name: string,
    render: Render,
    { client, signal }: Caller = SERVICE,
  ): Promise<Derivation | undefined> {
    if (!isBlobKey(blobKey)) return Promise.resolve(undefined)
    const key = keyOf({ blobKey, name })
    const failed = this.#failed.get(key)
    if (failed !== undefined) return Promise.resolve(failed)
    const flight = this.#flights.get(key) ?? this.#start({ blobKey, name }, client, render)
    const { requesters } = flight
    requesters.add(client)
    const left = Promise.withResolvers<Derivation>()
    const leave = () => {
      requesters.remove(client)
      // The last one stays until the work has ended, so that its client does not start more of it than it may.
      if (requesters.clients.length > 0) return left.resolve({ kind: 'aborted' })
      // The next request starts again, because this computation has no result any more.
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
      flight.abandoned.abort()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return Promise.race([flight.result, left.promise]).finally(() =>
      signal.removeEventListener('abort', leave),
    )
  }

  /** Reads from this machine's disk on the event loop, if that is quick. */
  readSync(blobKey: string, name: string): Rendered | undefined {
    const image = isBlobKey(blobKey) ? this.#folder?.readSync(blobKey, name) : undefined
    if (image !== undefined) this.diskHits++
    return image
  }

  #start(id: Id, client: string, render: Render): Flight {
    const key = keyOf(id)
    const abandoned = new AbortController()
    const requesters = new Requesters()
    const onEnd = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
    const result = this.#find(id, client, () => render(abandoned.signal, requesters), onEnd)
    const flight: Flight = { result, abandoned, requesters }
    this.#flights.set(key, flight)
    return flight
  }

  /** @param onEnd called when the next request finds the image elsewhere, or may try again */
  async #find(
    id: Id,
    client: string,
    render: () => Promise<Derivation | undefined>,
    onEnd: () => void,
  ): Promise<Derivation | undefined> {
    const { blobKey, name } = id
    let release: (() => Promise<void>) | undefined
    const finish = async () => {
      // A lock file that cannot be deleted expires.
      await release?.().catch(() => {})
      onEnd()
    }
    try {
      const known = await this.#folder?.read(blobKey, name)
      const claim = known === undefined ? await this.#folder?.claim(blobKey, name) : undefined
      release = claim?.release
      const onDisk = known ?? claim?.rendered
      if (onDisk !== undefined) {
        this.diskHits++
        await finish()
        return { kind: 'image', ...onDisk }
      }
      const shared = await this.#shared?.read(blobKey, name)
      if (shared !== undefined) {
        this.sharedHits++
        this.#store(id, shared, { disk: true, shared: false }, finish)
        return { kind: 'image', ...shared }
      }
      this.rendered++
      const derived = await render()
      if (derived?.kind === 'too-slow' || derived?.kind === 'crashed') this.#failed.set(keyOf(id), derived)
      if (derived?.kind === 'image')
        this.#store(id, derived, this.#admit(client, keyOf(id), derived.bytes.byteLength), finish)
      else await finish()
      return derived
    } catch (error) {
      await finish()
      throw error
    }
  }

  /** Stores an image in the background: the answer does not wait for a disk or a store. */
  #store(id: Id, image: Rendered, admission: Admission, finish: () => Promise<void>): void {
    const { blobKey, name } = id
    const size = image.bytes.byteLength
    const isAdmitted = admission.disk || admission.shared
    if (!isAdmitted || this.#pendingBytes + size > MAX_PENDING_BYTES) {
      void finish()
      return
    }
    this.#pendingBytes += size
    const write = async () => {
      if (admission.disk) await this.#folder?.write(blobKey, name, image)
      await finish()
      if (admission.shared) await this.#shared?.write(blobKey, name, image)
      // After the write: a deletion that commits later removes the derivative itself.
      if (!(await this.#findExisting([blobKey])).has(blobKey)) await this.forget(blobKey)
    }
    const pending = write()
      // What a failed query or deletion leaves behind, the hourly sweep removes.
      .catch(() => {})
      .finally(() => {
        this.#pendingBytes -= size
        this.#writes.delete(pending)
      })
    this.#writes.add(pending)
  }

  /** Approximate disk usage of derivatives on this machine; see `DerivativeFolder.usage`. */
  async usage(): Promise<number> {
    return (await this.#folder?.usage()) ?? 0
  }

  /** Removes all derivatives of a blob. @throws if some may be left */
  async forget(blobKey: string): Promise<void> {
    if (!isBlobKey(blobKey)) return
    await this.#folder?.remove(blobKey)
    await this.#shared?.remove(blobKey)
  }

  /** Enforces the size limit of this machine's folder and removes derivatives of images that any node has deleted. */
  async sweepFolder(): Promise<void> {
    const folder = this.#folder
    if (folder === undefined) return
    await folder.sweep()
    for await (const batch of batchesOf(folder.blobKeys(), BATCH)) {
      const existing = await this.#findExisting(batch)
      for (const blobKey of batch) if (!existing.has(blobKey)) await folder.remove(blobKey)
    }
  }

  /** Sweeps the shared store. Run it on one node only. */
  async sweepShared(now: number, signal: AbortSignal): Promise<number> {
    return (await this.#shared?.sweep(now, this.#findExisting, signal)) ?? 0
  }

  /** Ends running sweeps of the folder at their next step; the next ones do the rest. */
  stopSweeps(): void {
    this.#folder?.stop()
  }

  /** Waits for pending writes, each of which has a timeout. */
  async close(): Promise<void> {
    this.stopSweeps()
    await Promise.all(this.#writes)
    await this.#folder?.idle()
    this.#shared?.close()
  }
}
