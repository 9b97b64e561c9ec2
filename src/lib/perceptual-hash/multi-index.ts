import type { Matches } from './scan.ts'

/** Above this distance so many values of a part are near that scanning all hashes is faster. */
const MAX_DISTANCE = 11
/** Checking a candidate of the index costs as much as scanning this many hashes. */
const CANDIDATE_COST = 12

type PartOf = (high: number, low: number) => number

interface Part {
  readonly bits: number
  readonly of: PartOf
}

/** Three disjoint parts of a hash. The first is the most significant, so sorted hashes are sorted by it as well. */
const PARTS: readonly Part[] = [
  { bits: 22, of: (high) => high >>> 10 },
  { bits: 21, of: (high, low) => ((high & 0x3ff) << 11) | (low >>> 21) },
  { bits: 21, of: (_, low) => low & 0x1fffff },
]

/** What the tables of an index take, however few hashes it holds. */
export const TABLE_BYTES = PARTS.reduce((sum, { bits }) => sum + (2 ** bits + 1) * 4, 0)

/**
 * How many bits of each part may differ, -1 if the part need not be searched: `(r1 + 1) + (r2 + 1) + (r3 + 1) = distance +
 * 1`. Hashes that differ in more bits than that in every part differ in more than `distance` bits.
 */
export const partRadii = (distance: number): number[] =>
  // The remainder goes to the narrower parts.
  PARTS.map((_, part) => Math.floor((distance + 1 + part) / 3) - 1)

const masks = new Map<string, Uint32Array>()

/** All values of `bits` bits in which at most `radius` bits are 1. */
export function masksOf(bits: number, radius: number): Uint32Array {
  const key = `${bits} ${radius}`
  const known = masks.get(key)
  if (known !== undefined) return known
  const values: number[] = []
  const extend = (value: number, from: number, left: number) => {
    values.push(value)
    if (left === 0) return
    for (let bit = from; bit < bits; bit++) extend(value | (1 << bit), bit + 1, left - 1)
  }
  if (radius >= 0) extend(0, 0, radius)
  const computed = Uint32Array.from(values)
  masks.set(key, computed)
  return computed
}

/** The arrays of an index, in shared memory, so that a thread can build the next index from them. */
export interface MultiIndexArrays {
  /** Sorted distinct hashes. */
  readonly halves: Uint32Array
  /** For each part: `starts[value]` is where the hashes with that value begin in `order`. */
  readonly tables: readonly {
    readonly starts: Uint32Array
    /** Positions of hashes by the value of the part; undefined if that is the order of `halves`. */
    readonly order: Uint32Array | undefined
  }[]
}

const shared = (length: number): Uint32Array => new Uint32Array(new SharedArrayBuffer(length * 4))

/** Sorts hashes, removes duplicates and builds the index. Takes seconds for ten million: run it in a thread. */
export function buildMultiIndex(given: readonly Uint32Array[]): MultiIndexArrays {
  const sorted = new BigUint64Array(given.reduce((sum, { length }) => sum + length / 2, 0))
  // All supported machines are little-endian: the low half of a number comes first.
  const all = new Uint32Array(sorted.buffer)
  let at = 0
  for (const halves of given) {
    all.set(halves, at)
    at += halves.length
  }
  sorted.sort()
  const halves = shared(removeDuplicates(all) * 2)
  halves.set(all.subarray(0, halves.length))
  const tables = PARTS.map((part, i) => {
    const starts = countStarts(halves, part)
    return { starts, order: i === 0 ? undefined : orderBy(halves, starts, part) }
  })
  return { halves, tables }
}

/** Moves distinct hashes of a sorted array to the front. Returns their number. */
function removeDuplicates(halves: Uint32Array): number {
  let count = 0
  for (let i = 0; i < halves.length; i += 2) {
    const [low = 0, high = 0] = [halves[i], halves[i + 1]]
    if (count > 0 && low === halves[count * 2 - 2] && high === halves[count * 2 - 1]) continue
    halves[count * 2] = low
    halves[count * 2 + 1] = high
    count++
  }
  return count
}

/** For each value of the part, and one past the last, the number of hashes with a smaller value. */
function countStarts(halves: Uint32Array, { bits, of }: Part): Uint32Array {
  const starts = shared(2 ** bits + 1)
  for (let i = 0; i < halves.length; i += 2) {
    const next = of(halves[i + 1] ?? 0, halves[i] ?? 0) + 1
    starts[next] = (starts[next] ?? 0) + 1
  }
  for (let value = 1; value < starts.length; value++) {
    starts[value] = (starts[value] ?? 0) + (starts[value - 1] ?? 0)
  }
  return starts
}

function orderBy(halves: Uint32Array, starts: Uint32Array, { of }: Part): Uint32Array {
  const order = shared(halves.length / 2)
  const next = starts.slice()
  for (let i = 0; i < halves.length; i += 2) {
    const value = of(halves[i + 1] ?? 0, halves[i] ?? 0)
    const position = next[value] ?? 0
    order[position] = i / 2
    next[value] = position + 1
  }
  return order
}

/** Multi-index hashing (Norouzi, Punjani and Fleet, 2012): finds near hashes without comparing most of them. */
export class MultiIndex {
  readonly #arrays: MultiIndexArrays

  constructor(arrays: MultiIndexArrays) {
    this.#arrays = arrays
  }

  get halves(): Uint32Array {
    return this.#arrays.halves
  }

  get count(): number {
    return this.halves.length / 2
  }

  get bytes(): number {
    return this.#arrays.tables.reduce(
      (sum, { starts, order }) => sum + starts.byteLength + (order?.byteLength ?? 0),
      this.halves.byteLength,
    )
  }

  /** Binary search among the hashes with the same first part. */
  has(high: number, low: number): boolean {
    const { halves, tables } = this.#arrays
    const value = PARTS[0]?.of(high, low) ?? 0
    let from = tables[0]?.starts[value] ?? 0
    let to = tables[0]?.starts[value + 1] ?? 0
    while (from < to) {
      const middle = (from + to) >>> 1
      const order = (halves[middle * 2 + 1] ?? 0) - high || (halves[middle * 2] ?? 0) - low
      if (order === 0) return true
      if (order < 0) from = middle + 1
      else to = middle
    }
    return false
  }

  /** Offers all near hashes to `matches`. Returns false, without offering any, if a scan is faster. */
  find(matches: Matches): boolean {
    const { query, distance } = matches
    if (distance > MAX_DISTANCE) return false
    const { halves, tables } = this.#arrays
    const radii = partRadii(distance)
    const lookups = PARTS.flatMap(({ bits, of }, i) => {
      const table = tables[i]
      return table === undefined
        ? []
        : [{ ...table, value: of(query.high, query.low), near: masksOf(bits, radii[i] ?? -1) }]
    })
    const candidates = lookups.reduce(
      (sum, { starts, value, near }) => sum + countNear(starts, value, near),
      0,
    )
    if (candidates * CANDIDATE_COST > this.count) return false
    for (const { starts, order, value, near } of lookups) {
      for (const mask of near) {
        const end = starts[(value ^ mask) + 1] ?? 0
        for (let i = starts[value ^ mask] ?? 0; i < end; i++) {
          const at = (order === undefined ? i : (order[i] ?? 0)) * 2
          matches.offer(halves[at + 1] ?? 0, halves[at] ?? 0)
        }
      }
    }
    return true
  }
}

/** The number of hashes whose part has one of the near values. */
function countNear(starts: Uint32Array, value: number, near: Uint32Array): number {
  let count = 0
  for (const mask of near) count += (starts[(value ^ mask) + 1] ?? 0) - (starts[value ^ mask] ?? 0)
  return count
}
