import { LRUCache } from 'lru-cache'
import { isBlobKey } from '../../storage/blobs/blob-store.ts'
import { Requesters, SERVICE_CLIENT, type Derivation } from '../decoder/index.ts'
import { CacheAdmission, type Admission } from './admission.ts'
import type { DerivativeFolder } from './folder.ts'
import type { AtHand, Lend } from './reading.ts'
import type { Rendered } from './sealed.ts'
import type { FindHeld, SharedDerivatives } from './shared.ts'

/** What is made and not yet kept holds memory; past this it is not kept. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024
/** What took too long is not tried again for so long: it would keep a decoder from others each time. */
export const SLOW_RETRY_SECONDS = 60
const MAX_SLOW = 1_000
/** Keys asked about in one statement. */
const BATCH = 200

/** The image at hand, or why there is none; undefined when the original is gone. */
export type Derivative =
  (Rendered & { readonly kind: 'bytes' }) | Exclude<Derivation, { readonly kind: 'image' }>

/**
 * @param signal fires when nobody wants it any more
 * @param requesters those who want it at the moment
 */
export type Make = (signal: AbortSignal, requesters: Requesters) => Promise<Derivation | undefined>

/** Who asks for a derivative. */
export interface Caller {
  readonly client: string
  /** Fires when the caller has left. */
  readonly signal: AbortSignal
}

const NOBODY: Caller = { client: SERVICE_CLIENT, signal: new AbortController().signal }

/** Work under way, and those who wait for it. */
interface Running {
  readonly result: Promise<Derivative | undefined>
  readonly abandoned: AbortController
  readonly requesters: Requesters
}

/**
 * Keeps derivatives from being made twice: by this process, by the others of this machine, which share a folder, and by
 * other nodes, which share a store. Nothing here decides whether an image may be served: its record was read before, and
 * a key never comes back. So what a deletion leaves behind for a moment is bytes on a disk, never an answer.
 */
export class DerivativeCache {
  readonly #folder: DerivativeFolder | undefined
  readonly #shared: SharedDerivatives | undefined
  readonly #findHeld: FindHeld
  readonly #admission: CacheAdmission
  readonly #running = new Map<string, Running>()
  readonly #pending = new Set<Promise<void>>()
  readonly #slow = new LRUCache<string, true>({ max: MAX_SLOW, ttl: SLOW_RETRY_SECONDS * 1_000 })
  readonly #stopping = new AbortController()
  #pendingBytes = 0
  /** Found on the disk, in the shared store, and made. */
  diskHits = 0
  sharedHits = 0
  made = 0

  /** @param clientBytes what one client may add to the folder and the store before others come first */
  constructor(
    folder: DerivativeFolder | undefined,
    shared: SharedDerivatives | undefined,
    findHeld: FindHeld,
    clientBytes = Infinity,
  ) {
    this.#admission = new CacheAdmission(clientBytes)
    this.#folder = folder
    this.#shared = shared
    this.#findHeld = findHeld
  }

  /**
   * Equal requests in flight share one computation, whoever of them stays; it is given up when all have left.
   * It runs in the turn of any of those who wait for it.
   */
  get(
    blobKey: string,
    name: string,
    make: Make,
    { client, signal }: Caller = NOBODY,
  ): Promise<Derivative | undefined> {
    if (!isBlobKey(blobKey)) return Promise.resolve(undefined)
    const key = `${blobKey}/${name}`
    if (this.#slow.has(key)) return Promise.resolve({ kind: 'too-slow' })
    const running = this.#running.get(key) ?? this.#start(blobKey, name, client, make)
    const { requesters } = running
    requesters.add(client)
    const leave = () => {
      requesters.remove(client)
      if (requesters.size > 0) return
      // Whoever comes now begins anew: this one has no result any more.
      if (this.#running.get(key) === running) this.#running.delete(key)
      running.abandoned.abort()
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return running.result.finally(() => signal.removeEventListener('abort', leave))
  }

  /** What this machine's disk has, where that need not be waited for. */
  readSync(blobKey: string, name: string, lend: Lend): AtHand | undefined {
    const known = isBlobKey(blobKey) ? this.#folder?.readSync(blobKey, name, lend) : undefined
    if (known !== undefined) this.diskHits++
    return known
  }

  #start(blobKey: string, name: string, client: string, make: Make): Running {
    const key = `${blobKey}/${name}`
    const abandoned = new AbortController()
    const requesters = new Requesters()
    const settled = () => {
      if (this.#running.get(key) === running) this.#running.delete(key)
    }
    const result = this.#find(blobKey, name, client, () => make(abandoned.signal, requesters), settled)
    const running: Running = { result, abandoned, requesters }
    this.#running.set(key, running)
    return running
  }

  /** @param settled called when the next request finds it elsewhere, or may try anew */
  async #find(
    blobKey: string,
    name: string,
    client: string,
    make: () => Promise<Derivation | undefined>,
    settled: () => void,
  ): Promise<Derivative | undefined> {
    let release: (() => Promise<void>) | undefined
    const finish = async () => {
      // A claim that cannot be taken back ends with its holder, or by its age.
      await release?.().catch(() => {})
      settled()
    }
    try {
      const known = await this.#folder?.read(blobKey, name)
      const claimed = known === undefined ? await this.#folder?.claim(blobKey, name) : undefined
      release = claimed?.release
      const onDisk = known ?? claimed?.rendered
      if (onDisk !== undefined) {
        this.diskHits++
        await finish()
        return { kind: 'bytes', ...onDisk }
      }
      const shared = await this.#shared?.read(blobKey, name)
      if (shared !== undefined) {
        this.sharedHits++
        this.#keep(blobKey, name, shared, { disk: true, shared: false }, finish)
        return { kind: 'bytes', ...shared }
      }
      this.made++
      const derived = await make()
      if (derived?.kind === 'too-slow') this.#slow.set(`${blobKey}/${name}`, true)
      if (derived?.kind !== 'image') {
        await finish()
        return derived
      }
      const rendered = { bytes: derived.bytes, mime: derived.mime }
      const admission = this.#admission.admit(client, `${blobKey}/${name}`, rendered.bytes.byteLength)
      this.#keep(blobKey, name, rendered, admission, finish)
      return { kind: 'bytes', ...rendered }
    } catch (error) {
      await finish()
      throw error
    }
  }

  /** Behind the answer: who asked does not wait for a disk or a store. */
  #keep(
    blobKey: string,
    name: string,
    rendered: Rendered,
    admission: Admission,
    finish: () => Promise<void>,
  ): void {
    const size = rendered.bytes.byteLength
    const isKept = admission.disk || admission.shared
    if (!isKept || this.#pendingBytes + size > MAX_PENDING_BYTES) {
      void finish()
      return
    }
    this.#pendingBytes += size
    const work = async () => {
      if (admission.disk) await this.#folder?.write(blobKey, name, rendered)
      await finish()
      if (admission.shared) await this.#shared?.write(blobKey, name, rendered)
      // Written before the look: a deletion that commits after it removes this too.
      if (!(await this.#findHeld([blobKey])).has(blobKey)) await this.forget(blobKey)
    }
    const pending = work()
      // Of a record that could not be looked up, or a file that resists, the hourly sweep takes care.
      .catch(() => {})
      .finally(() => {
        this.#pendingBytes -= size
        this.#pending.delete(pending)
      })
    this.#pending.add(pending)
  }

  /** Bytes that derivatives take on this machine's disk, about: see `DerivativeFolder.usage`. */
  async usage(): Promise<number> {
    return (await this.#folder?.usage()) ?? 0
  }

  /** Removes all that was made of a blob. @throws when some of it may still be there */
  async forget(blobKey: string): Promise<void> {
    if (!isBlobKey(blobKey)) return
    await this.#folder?.remove(blobKey)
    await this.#shared?.remove(blobKey)
  }

  /** Keeps this machine's folder within its cap and free of deleted images, those that other nodes deleted included. */
  async sweepFolder(): Promise<void> {
    const folder = this.#folder
    if (folder === undefined) return
    const { signal } = this.#stopping
    await folder.sweep(signal)
    let batch: string[] = []
    const clear = async () => {
      const held = await this.#findHeld(batch)
      for (const blobKey of batch) if (!held.has(blobKey)) await folder.remove(blobKey)
      batch = []
    }
    for await (const blobKey of folder.blobKeys(signal)) if (batch.push(blobKey) >= BATCH) await clear()
    if (batch.length > 0) await clear()
  }

  /** Of all nodes one is enough. */
  async sweepShared(now: number): Promise<number> {
    return (await this.#shared?.sweep(now, this.#findHeld, this.#stopping.signal)) ?? 0
  }

  /** Ends sweeps under way at their next step; what they did not come to is done by the next ones. */
  stopSweeps(): void {
    this.#stopping.abort()
    this.#folder?.stop()
  }

  /** Waits for what is being kept: each step of it has its own bound. */
  async close(): Promise<void> {
    this.stopSweeps()
    await Promise.all(this.#pending)
    await this.#folder?.idle()
    this.#shared?.close()
  }
}
