/** Blocks in which a record may match, by number; those left out have none. */
export interface Candidates {
  /** The first candidate from `block` on; `NONE` when there is none. */
  up(block: number): number
  /** The last candidate up to `block`; -1 when there is none. */
  down(block: number): number
}

export const NONE = 0x7fff_ffff

/** A bit a block, from the word `from` on. */
export class BitCandidates implements Candidates {
  readonly #words: Uint32Array
  readonly #from: number
  readonly #count: number

  constructor(words: Uint32Array, from = 0, count = words.length) {
    this.#words = words
    this.#from = from
    this.#count = count
  }

  up(block: number): number {
    let word = block >>> 5
    if (word >= this.#count) return NONE
    let bits = (this.#words[this.#from + word] ?? 0) & (-1 << (block & 31))
    while (bits === 0) {
      if (++word >= this.#count) return NONE
      bits = this.#words[this.#from + word] ?? 0
    }
    return (word << 5) + lowestBit(bits)
  }

  down(block: number): number {
    if (block < 0) return -1
    let word = block >>> 5
    let bits = (this.#words[this.#from + word] ?? 0) & (-1 >>> (31 - (block & 31)))
    while (bits === 0) {
      if (--word < 0) return -1
      bits = this.#words[this.#from + word] ?? 0
    }
    return (word << 5) + highestBit(bits)
  }
}

/** Numbers of blocks in order, from one place of an array to another. Must be asked in one direction only. */
export class ListCandidates implements Candidates {
  readonly #blocks: Uint16Array
  #from: number
  #to: number

  constructor(blocks: Uint16Array, from: number, to: number) {
    this.#blocks = blocks
    this.#from = from
    this.#to = to
  }

  get size(): number {
    return this.#to - this.#from
  }

  up(block: number): number {
    const blocks = this.#blocks
    // Strides that double, then halving: what is asked for is near as a rule.
    let low = this.#from
    let stride = 1
    while (low + stride < this.#to && (blocks[low + stride] ?? 0) < block) {
      low += stride
      stride *= 2
    }
    let high = Math.min(this.#to, low + stride + 1)
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((blocks[middle] ?? 0) < block) low = middle + 1
      else high = middle
    }
    this.#from = low
    return low < this.#to ? (blocks[low] ?? NONE) : NONE
  }

  down(block: number): number {
    const blocks = this.#blocks
    let high = this.#to
    let stride = 1
    while (high - stride - 1 >= this.#from && (blocks[high - stride - 1] ?? 0) > block) {
      high -= stride
      stride *= 2
    }
    let low = Math.max(this.#from, high - stride - 1)
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((blocks[middle] ?? 0) > block) high = middle
      else low = middle + 1
    }
    this.#to = high
    return high > this.#from ? (blocks[high - 1] ?? -1) : -1
  }
}

/** Blocks that are candidates of all; the rarest first is quickest. */
export class AllCandidates implements Candidates {
  readonly #parts: readonly Candidates[]

  constructor(parts: readonly Candidates[]) {
    this.#parts = parts
  }

  up(block: number): number {
    let at = block
    for (let agreed = 0, i = 0; agreed < this.#parts.length; i = (i + 1) % this.#parts.length) {
      const next = this.#parts[i]?.up(at) ?? NONE
      if (next === NONE) return NONE
      agreed = next === at ? agreed + 1 : 1
      at = next
    }
    return at
  }

  down(block: number): number {
    let at = block
    for (let agreed = 0, i = 0; agreed < this.#parts.length; i = (i + 1) % this.#parts.length) {
      const next = this.#parts[i]?.down(at) ?? -1
      if (next < 0) return -1
      agreed = next === at ? agreed + 1 : 1
      at = next
    }
    return at
  }
}

/** Blocks that are candidates of either. */
export class EitherCandidates implements Candidates {
  readonly #one: Candidates
  readonly #other: Candidates

  constructor(one: Candidates, other: Candidates) {
    this.#one = one
    this.#other = other
  }

  up(block: number): number {
    return Math.min(this.#one.up(block), this.#other.up(block))
  }

  down(block: number): number {
    return Math.max(this.#one.down(block), this.#other.down(block))
  }
}

export const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
export const highestBit = (bits: number): number => 31 - Math.clz32(bits)
