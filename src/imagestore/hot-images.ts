import { LRUCache } from 'lru-cache'
import type { Rendered } from './derivatives/checksummed-file.ts'

/** What an image takes beside its bytes. */
const OVERHEAD_BYTES = 512
/** Places of counters, a byte each. Two images that share one are taken to be asked for more often than they are. */
const COUNTERS = 65_536
const MOST = 255
const PLACE = COUNTERS - 1
const MIXED_LETTERS = 8
/** Part of the memory past which a client takes no place of others, and gives way to them. */
const CLIENT_SHARE = 1 / 2
/** All counts are halved after so many requests for each image kept, and no sooner than so many. */
const REQUESTS_EACH = 16
const LEAST_REQUESTS = 4_096

interface Kept {
  readonly image: Rendered
  /** Who asked for it when it came in; undefined where that is not known. */
  readonly client: string | undefined
}

const sizeOf = ({ image }: Kept): number => image.bytes.byteLength + OVERHEAD_BYTES

/**
 * Images in memory, bounded by bytes. When there is no room left, one comes in only if it was asked for more often than the one it
 * would push out: whoever walks through all images once, or through more than there is room for over and over, leaves what others
 * ask for where it is, and costs no memory. Whoever asks for the same images again and again gets half of the memory for them as
 * long as others want the rest. (After Einziger, Friedman and Manes: TinyLFU, 2017.)
 */
export class HotImages {
  readonly #images: LRUCache<string, Kept>
  readonly #bytesOf = new Map<string, number>()
  readonly #max: number
  readonly #counts = new Uint8Array(COUNTERS)
  #counted = 0

  /** @param max bytes; 0 keeps none */
  constructor(max: number) {
    this.#max = Math.max(1, max)
    this.#images = new LRUCache({
      maxSize: this.#max,
      sizeCalculation: sizeOf,
      dispose: (kept) => this.#charge(kept, -sizeOf(kept)),
    })
  }

  get bytes(): number {
    return this.#images.calculatedSize
  }

  get(key: string): Rendered | undefined {
    const kept = this.#images.get(key)
    if (kept !== undefined) this.#count(key)
    return kept?.image
  }

  /**
   * Whether an image that is not here would better be. To be asked once for each time that it is wanted.
   * @param client who asks, where that is known
   */
  wants(key: string, bytes: number, client?: string): boolean {
    const earlier = this.#countOf(key)
    this.#count(key)
    const size = bytes + OVERHEAD_BYTES
    if (size > this.#max) return false
    if (this.#images.calculatedSize + size <= this.#max) return true
    const { value: unused } = this.#images.rkeys().next()
    if (unused === undefined) return true
    const owner = this.#images.peek(unused)?.client
    if (owner !== client) {
      if (this.#isOverShare(client, size)) return false
      if (this.#isOverShare(owner, 0)) return true
    }
    return earlier > this.#countOf(unused)
  }

  set(key: string, image: Rendered, client?: string): void {
    const kept = { image, client }
    this.#images.set(key, kept)
    if (this.#images.peek(key) === kept) this.#charge(kept, sizeOf(kept))
  }

  #charge({ client }: Kept, bytes: number): void {
    if (client === undefined) return
    const sum = (this.#bytesOf.get(client) ?? 0) + bytes
    if (sum > 0) this.#bytesOf.set(client, sum)
    else this.#bytesOf.delete(client)
  }

  #isOverShare(client: string | undefined, more: number): boolean {
    if (client === undefined) return false
    return (this.#bytesOf.get(client) ?? 0) + more > this.#max * CLIENT_SHARE
  }

  #count(key: string): void {
    const counts = this.#counts
    const mix = mixOf(key)
    const [one, other] = [mix & PLACE, mix >>> 16]
    const least = Math.min(counts[one] ?? MOST, counts[other] ?? MOST)
    // The lower one is the truer one: the other is shared.
    if (least < MOST && counts[one] === least) counts[one] = least + 1
    if (least < MOST && counts[other] === least) counts[other] = least + 1
    if (++this.#counted < Math.max(LEAST_REQUESTS, this.#images.size * REQUESTS_EACH)) return
    this.#counted = 0
    for (let i = 0; i < COUNTERS; i++) counts[i] = (counts[i] ?? 0) >> 1
  }

  #countOf(key: string): number {
    const mix = mixOf(key)
    return Math.min(this.#counts[mix & PLACE] ?? 0, this.#counts[mix >>> 16] ?? 0)
  }
}

/** 32 bits from both ends of a key: digests begin there, of the image and of what is made of it. (FNV-1a.) */
function mixOf(key: string): number {
  let mix = 0x811c9dc5
  for (let i = 0; i < MIXED_LETTERS; i++) {
    mix = Math.imul(mix ^ key.charCodeAt(i), 0x01000193)
    mix = Math.imul(mix ^ key.charCodeAt(key.length - 1 - i), 0x01000193)
  }
  return mix ^ (mix >>> 15)
}
