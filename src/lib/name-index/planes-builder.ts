import { BLOCK, shared } from './columns.ts'

/** Collects the planes of a block in memory that stays in the cache of the processor. */
export class PlanesBuilder {
  readonly #words: number
  readonly #planes: Uint32Array
  readonly #block: Uint32Array
  #at = 0

  constructor(count: number, planes: number) {
    this.#words = Math.ceil(count / BLOCK)
    this.#planes = shared.u32(planes * this.#words)
    this.#block = new Uint32Array(planes)
  }

  /** Returns a word for each plane of the block of a position. Positions are in ascending order. */
  blockOf(position: number): Uint32Array {
    const at = position >>> 5
    if (at !== this.#at) this.#store(at)
    return this.#block
  }

  build(): Uint32Array {
    if (this.#words > 0) this.#store(this.#words)
    return this.#planes
  }

  #store(next: number): void {
    for (const [plane, bits] of this.#block.entries())
      if (bits !== 0) this.#planes[plane * this.#words + this.#at] = bits
    this.#block.fill(0)
    this.#at = next
  }
}
