/** Allocates memory that threads share: what one thread builds another searches without a copy. */
export const shared = {
  u8: (length: number) => new Uint8Array(new SharedArrayBuffer(length)),
  u32: (length: number) => new Uint32Array(new SharedArrayBuffer(length * 4)),
  f64: (length: number) => new Float64Array(new SharedArrayBuffer(length * 8)),
}

/** How the records of a list are sorted: all by registration, those that are not bought also by deletion. */
export const ORDERS = ['registered', 'deleted'] as const
export type Order = (typeof ORDERS)[number]

/** Records per block: as many as a word has bits. */
export const BLOCK = 32
/** Maximum records of a segment: larger ones would take too long to merge. */
export const MAX_RECORDS = 2 ** 21
/** Characters of a name. */
export const MAX_LENGTH = 63

/** Which records have a value that others lack. The values are in an array of their own, in the order of positions. */
export interface Sparse {
  /** A bit per record. */
  readonly present: Uint32Array
  /** The number of records with a value before each block. */
  readonly before: Uint32Array
}

/** Numbers that some records have. */
export interface NumberColumn {
  readonly key: string
  /** Which records have one; undefined if there is a value for each record, NaN for those without. */
  readonly has: Sparse | undefined
  readonly values: Float64Array
}

/** Immutable records, column by column, newest first: sorted by `keys` and then by name, both descending. */
export interface Columns {
  readonly count: number
  /** Concatenated names in Latin-1; the one at position `p` goes from `starts[p]` to `starts[p + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** A bit for each byte of `names`: set where a word ends, in names that consist of words. */
  readonly wordEnds: Uint32Array
  /** Timestamps: the sort key, `date_reg`, `date_mod` and `status_at`; NaN if it is unknown. */
  readonly keys: Float64Array
  readonly registered: Float64Array
  readonly modified: Float64Array
  readonly statusAt: Float64Array
  /** Bits of each record, plane by plane, a word for each block: those of its name, then those of its traits. */
  readonly planes: Uint32Array
  /** Bits of each block, gram by gram, a word for each 32 blocks: whether one of its names has the gram. */
  readonly grams: Uint32Array
  /** Index into `agents`. */
  readonly agent: Uint32Array
  readonly agents: readonly string[]
  /** Of records that have tags: index into `tagSets`, texts with a space before and after each tag (` casa venta `). */
  readonly tagged: Sparse
  readonly tags: Uint32Array
  readonly tagSets: readonly string[]
  /** Of records that are not bought: when they were deleted. Timestamps. */
  readonly free: Sparse
  readonly deleted: Float64Array
  /** Of discarded records: when that was. Milliseconds since 1970. */
  readonly discarded: Sparse
  readonly discardedAt: Float64Array
  readonly numbers: readonly NumberColumn[]
  /** Finds names by their keys (`twins.ts`). Empty in the order by deletion. */
  readonly twins: Float64Array
}

/** Returns the memory of all arrays and strings of a value, in bytes. */
export function sizeOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength
  if (typeof value === 'string') return 2 * value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, part) => sum + sizeOf(part), 0)
}

/** The number of bits that are set in a word. */
export function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x5555_5555)
  const fours = (pairs & 0x3333_3333) + ((pairs >>> 2) & 0x3333_3333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}

export const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)
export const highestBit = (bits: number): number => 31 - Math.clz32(bits)

export function setBits(words: Uint32Array, word: number, bits: number): void {
  words[word] = (words[word] ?? 0) | bits
}

/** Returns the index of a record's value; -1 if it has none. */
export function getRank({ present, before }: Sparse, position: number): number {
  const word = present[position >>> 5] ?? 0
  const bit = 1 << (position & 31)
  return (word & bit) === 0 ? -1 : (before[position >>> 5] ?? 0) + countBits(word & (bit - 1))
}

/** Returns the number with this key of a record; NaN if it has none. */
export function numberAt({ numbers }: Pick<Columns, 'numbers'>, key: string, position: number): number {
  const column = numbers.find((one) => one.key === key)
  if (column === undefined) return NaN
  const { has, values } = column
  return values[has === undefined ? position : getRank(has, position)] ?? NaN
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

/** The smallest and the largest number that the records of each block have, found when a search first asks for the block. */
export class BlockBounds {
  readonly #count: number
  readonly #numberAt: (position: number) => number
  /** NaN if they are not known yet; if no record of the block has a number, the smallest exceeds the largest. */
  readonly #smallest: Float64Array
  readonly #largest: Float64Array

  /** @param numberAt returns NaN for records without a number */
  constructor(count: number, numberAt: (position: number) => number) {
    this.#count = count
    this.#numberAt = numberAt
    this.#smallest = new Float64Array(Math.ceil(count / BLOCK)).fill(NaN)
    this.#largest = new Float64Array(this.#smallest.length)
  }

  smallest(block: number): number {
    this.#find(block)
    return this.#smallest[block] ?? Infinity
  }

  largest(block: number): number {
    this.#find(block)
    return this.#largest[block] ?? -Infinity
  }

  #find(block: number): void {
    if (!Number.isNaN(this.#smallest[block])) return
    let [smallest, largest] = [Infinity, -Infinity]
    const end = Math.min((block + 1) * BLOCK, this.#count)
    for (let position = block * BLOCK; position < end; position++) {
      const number = this.#numberAt(position)
      if (number < smallest) smallest = number
      if (number > largest) largest = number
    }
    this.#smallest[block] = smallest
    this.#largest[block] = largest
  }
}

/** Half a byte per record and column. */
const known = new WeakMap<object, BlockBounds>()

/** Returns the bounds of a column, which never changes. They are kept as long as it is. */
export function getBounds(
  column: object,
  count: number,
  numberAt: (position: number) => number,
): BlockBounds {
  let bounds = known.get(column)
  if (bounds === undefined) known.set(column, (bounds = new BlockBounds(count, numberAt)))
  return bounds
}

export const numberBounds = (columns: Columns, key: string): BlockBounds => {
  // All columns that lack the numbers have the same bounds.
  const column = columns.numbers.find((one) => one.key === key) ?? columns.numbers
  return getBounds(column, columns.count, (position) => numberAt(columns, key, position))
}

export const registrationBounds = ({ registered, count }: Columns): BlockBounds =>
  getBounds(registered, count, (position) => registered[position] ?? NaN)

export const deletionBounds = ({ free, deleted, count }: Columns): BlockBounds =>
  getBounds(free, count, (position) => deleted[getRank(free, position)] ?? NaN)
