import { LRUCache } from 'lru-cache'
import type { Rendered } from './decoder/index.ts'

/** Memory of an entry besides its bytes. */
const ENTRY_OVERHEAD_BYTES = 512
/** Part of the memory beyond which a client does not evict the images of others. */
const MAX_CLIENT_SHARE = 1 / 2
/** The least recently used images among which a client finds its own, so that a crowd of others costs no time. */
const MAX_VISITED = 256

interface Entry {
  readonly image: Rendered
  /** Who requested it when it was added; undefined if unknown. */
  readonly client: string | undefined
}

const sizeOfEntry = ({ image }: Entry): number => image.bytes.byteLength + ENTRY_OVERHEAD_BYTES

/**
 * Keeps the most recently used images in memory, up to a number of bytes. A client that walks through all images fills half
 * of it at most, as long as others use the rest: beyond that it replaces its own. Design decision: docs/decisions/040-image-cache.md.
 */
export class ImageCache {
  readonly #images: LRUCache<string, Entry>
  readonly #bytesOfClient = new Map<string, number>()
  readonly #maxBytes: number

  /** @param maxBytes 0 keeps nothing */
  constructor(maxBytes: number) {
    this.#maxBytes = Math.max(1, maxBytes)
    this.#images = new LRUCache({
      maxSize: this.#maxBytes,
      sizeCalculation: sizeOfEntry,
      dispose: (entry) => this.#charge(entry, -sizeOfEntry(entry)),
    })
  }

  get bytes(): number {
    return this.#images.calculatedSize
  }

  get(key: string): Rendered | undefined {
    return this.#images.get(key)?.image
  }

  /** Adds an image, unless it is too large. In a full cache, a client that has its share replaces its own images. */
  set(key: string, image: Rendered, client?: string): void {
    const entry = { image, client }
    const size = sizeOfEntry(entry)
    const isFull = this.#images.calculatedSize + size > this.#maxBytes
    const share = client === undefined ? 0 : (this.#bytesOfClient.get(client) ?? 0) + size
    if (size > this.#maxBytes) return
    if (isFull && share > this.#maxBytes * MAX_CLIENT_SHARE && !this.#evictOwn(client, size)) return
    this.#images.set(key, entry)
    this.#charge(entry, size)
  }

  /** Makes room at the expense of the least recently used images of a client. Returns false if it finds too few. */
  #evictOwn(client: string | undefined, size: number): boolean {
    const own: string[] = []
    let missing = this.#images.calculatedSize + size - this.#maxBytes
    let visited = 0
    for (const key of this.#images.rkeys()) {
      if (missing <= 0 || ++visited > MAX_VISITED) break
      const entry = this.#images.peek(key)
      if (entry === undefined || entry.client !== client) continue
      own.push(key)
      missing -= sizeOfEntry(entry)
    }
    if (missing > 0) return false
    for (const key of own) this.#images.delete(key)
    return true
  }

  #charge({ client }: Entry, bytes: number): void {
    if (client === undefined) return
    const sum = (this.#bytesOfClient.get(client) ?? 0) + bytes
    if (sum > 0) this.#bytesOfClient.set(client, sum)
    else this.#bytesOfClient.delete(client)
  }
}
