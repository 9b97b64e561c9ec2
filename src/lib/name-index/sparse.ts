import { BLOCK, countBits, setBits, shared, type Sparse } from './columns.ts'

/** Returns the index of a record's value; -1 if it has none. */
export function rankOf({ present, before }: Sparse, position: number): number {
  const word = present[position >>> 5] ?? 0
  const bit = 1 << (position & 31)
  return (word & bit) === 0 ? -1 : (before[position >>> 5] ?? 0) + countBits(word & (bit - 1))
}

/** Builds a sparse column, in the order of positions. */
export class SparseBuilder {
  readonly #present: Uint32Array
  readonly values: number[] = []

  /** @param count the number of records */
  constructor(count: number) {
    this.#present = shared.u32(Math.ceil(count / BLOCK))
  }

  add(position: number, value: number): void {
    setBits(this.#present, position >>> 5, 1 << (position & 31))
    this.values.push(value)
  }

  build(): Sparse {
    const before = shared.u32(this.#present.length)
    let sum = 0
    for (const [block, bits] of this.#present.entries()) {
      before[block] = sum
      sum += countBits(bits)
    }
    return { present: this.#present, before }
  }
}
