import { LRUCache } from 'lru-cache'
import type { Rendered } from './derivatives/sealed.ts'

/** What an image takes beside its bytes. */
const OVERHEAD_BYTES = 512
/** Places of counters, a byte each. Two images that share one are taken to be asked for more often than they are. */
const COUNTERS = 65_536
const MOST = 255
const PLACE = COUNTERS - 1
const MIXED_LETTERS = 8
/** All counts are halved after so many requests for each image kept, and no sooner than so many. */
const REQUESTS_EACH = 16
const LEAST_REQUESTS = 4_096

/**
 * Images in memory, bounded by bytes. When there is no room left, one comes in only if it was asked for more often than the one it
 * would push out: whoever walks through all images once, or through more than there is room for over and over, leaves what others
 * ask for where it is, and costs no memory. (After Einziger, Friedman and Manes: TinyLFU, 2017.)
 */
export class HotImages {
  readonly #images: LRUCache<string, Rendered>
  readonly #max: number
  readonly #counts = new Uint8Array(COUNTERS)
  #counted = 0

  /** @param max bytes; 0 keeps none */
  constructor(max: number) {
    this.#max = Math.max(1, max)
    this.#images = new LRUCache({
      maxSize: this.#max,
      sizeCalculation: ({ bytes }) => bytes.byteLength + OVERHEAD_BYTES,
    })
  }

  get bytes(): number {
    return this.#images.calculatedSize
  }

  get(key: string): Rendered | undefined {
    const image = this.#images.get(key)
    if (image !== undefined) this.#count(key)
    return image
  }

  /** Whether an image that is not here would better be. To be asked once for each time that it is wanted. */
  wants(key: string, bytes: number): boolean {
    const earlier = this.#countOf(key)
    this.#count(key)
    const size = bytes + OVERHEAD_BYTES
    if (size > this.#max) return false
    if (this.#images.calculatedSize + size <= this.#max) return true
    const { value: unused } = this.#images.rkeys().next()
    return unused === undefined || earlier > this.#countOf(unused)
  }

  set(key: string, image: Rendered): void {
    this.#images.set(key, image)
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
