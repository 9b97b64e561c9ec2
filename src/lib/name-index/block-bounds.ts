import { BLOCK, getRank, numberAt, type Columns } from './columns.ts'

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
