import { countBits, BLOCK, Plane, sizeOf, type Columns } from './columns.ts'
import { NO_SYMBOL, SYMBOL_OF, symbolPlane } from './planes.ts'

/** A position in the order of a list: a timestamp, and the Latin-1 bytes of a name. */
export interface EntryKey {
  readonly key: number
  readonly name: Uint8Array
}

/** An entry key, or the position after all entries of a timestamp. */
type Boundary = Pick<EntryKey, 'key'> & Partial<EntryKey>

/** Columns, and which of their records are live, that is, not changed or deleted since. */
export class Segment {
  readonly columns: Columns
  /** A bit per record. */
  readonly live: Uint32Array
  /** Words of `live` and of each plane. */
  readonly words: number
  readonly bytes: number
  /** The agents, in lower case. */
  readonly foldedAgents: readonly string[]
  /** When the first of the discarded records was discarded: milliseconds since 1970. */
  readonly firstDiscarded: number
  #liveCount: number

  /**
   * @param live which records are live, unless all are
   * @param like another segment of the same columns, to share derived data
   */
  constructor(columns: Columns, live?: Uint32Array, like?: Segment) {
    this.columns = columns
    this.words = Math.ceil(columns.count / BLOCK)
    this.live = new Uint32Array(this.words).fill(0xffff_ffff)
    const beyond = columns.count % BLOCK
    if (beyond > 0) this.live[this.words - 1] = 2 ** beyond - 1
    this.bytes = sizeOf(columns) + this.live.byteLength
    this.foldedAgents = like?.foldedAgents ?? columns.agents.map((agent) => agent.toLowerCase())
    this.firstDiscarded =
      like?.firstDiscarded ?? columns.discarded.at.reduce((first, at) => Math.min(first, at), Infinity)
    this.#liveCount = columns.count
    if (live === undefined) return
    this.live.set(live)
    this.#liveCount = live.reduce((sum, bits) => sum + countBits(bits), 0)
  }

  get liveCount(): number {
    return this.#liveCount
  }

  /** Marks the record at this position as no longer live. */
  remove(position: number): void {
    const word = position >>> 5
    const bit = 1 << (position & 31)
    const bits = this.live[word] ?? 0
    if ((bits & bit) === 0) return
    this.live[word] = bits & ~bit
    this.#liveCount--
  }

  /** Returns the position of the live record with this key; -1 if there is none. */
  find(entry: EntryKey): number {
    const position = this.lowerBound(entry, true)
    if (position === this.columns.count || this.#compare(position, entry) !== 0) return -1
    return ((this.live[position >>> 5] ?? 0) & (1 << (position & 31))) === 0 ? -1 : position
  }

  /** Returns the first position at (if `inclusive`) or after a boundary. */
  lowerBound(boundary: Boundary, inclusive: boolean): number {
    let low = 0
    let high = this.columns.count
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.#compare(middle, boundary)
      if (order > 0 || (order === 0 && !inclusive)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Returns a positive number if the record is newer than the boundary, and so before it in the list. */
  #compare(position: number, { key, name }: Boundary): number {
    const { keys, names, starts } = this.columns
    const difference = (keys[position] ?? 0) - key
    if (difference !== 0 || name === undefined) return difference
    return compareBytes(names, starts[position] ?? 0, starts[position + 1] ?? 0, name, 0, name.length)
  }

  has(plane: number, position: number): boolean {
    const word = this.columns.planes[plane * this.words + (position >>> 5)] ?? 0
    return (word & (1 << (position & 31))) !== 0
  }

  /** Which records have a letter in their names: a bit per record. */
  letterPlane(letter: number): Uint32Array {
    const from = symbolPlane(SYMBOL_OF[letter] ?? NO_SYMBOL) * this.words
    return this.columns.planes.subarray(from, from + this.words)
  }

  /** Status, reserved, revision and discarded, from the lowest bit on. */
  marksOf(position: number): number {
    const { planes } = this.columns
    const word = position >>> 5
    let marks = 0
    for (let plane = Plane.status; plane <= Plane.discarded; plane++) {
      marks |= (((planes[plane * this.words + word] ?? 0) >>> (position & 31)) & 1) << plane
    }
    return marks
  }

  /** When the record was discarded: milliseconds since 1970; NaN if it is not. */
  discardedAt(position: number): number {
    if (!this.has(Plane.discarded, position)) return NaN
    const { positions, at } = this.columns.discarded
    return at[rankOf(positions, position)] ?? NaN
  }

  /** When the record was deleted: a timestamp; NaN if it is bought. */
  deletedAt(position: number): number {
    const { keys, deletions, planes } = this.columns
    if (deletions.at === keys) return keys[position] ?? NaN
    const word = position >>> 5
    const bit = 1 << (position & 31)
    const free = ~(planes[Plane.status * this.words + word] ?? 0)
    if ((free & bit) === 0) return NaN
    return deletions.at[(deletions.before[word] ?? 0) + countBits(free & (bit - 1))] ?? NaN
  }

  /** The tags of the record, each with a space before and after it; empty if it has none. */
  tagsOf(position: number): string {
    const { sets } = this.columns.tags
    return sets[this.tagSetOf(position)] ?? ''
  }

  /** The index of the record's tags in `tags.sets`; 0 if it has none. */
  tagSetOf(position: number): number {
    if (!this.has(Plane.tagged, position)) return 0
    const { positions, set } = this.columns.tags
    return set[rankOf(positions, position)] ?? 0
  }

  /** Returns a copy that later removals do not affect. */
  snapshot(): Segment {
    return new Segment(this.columns, this.live, this)
  }

  lengthOf(position: number): number {
    const { starts } = this.columns
    return (starts[position + 1] ?? 0) - (starts[position] ?? 0)
  }

  nameOf(position: number): Uint8Array {
    const { names, starts } = this.columns
    return names.subarray(starts[position], starts[position + 1])
  }
}

/** A match. */
export interface Hit {
  readonly segment: Segment
  readonly position: number
}

/** The index of `value` in a sorted array that contains it. */
export function rankOf(values: Uint32Array, value: number): number {
  let low = 0
  let high = values.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((values[middle] ?? 0) < value) low = middle + 1
    else high = middle
  }
  return low
}

/** Compares two texts, byte by byte as the databases do: negative, zero or positive. */
export function compareBytes(
  a: Uint8Array,
  aFrom: number,
  aTo: number,
  b: Uint8Array,
  bFrom: number,
  bTo: number,
): number {
  const shorter = Math.min(aTo - aFrom, bTo - bFrom)
  for (let at = 0; at < shorter; at++) {
    const difference = (a[aFrom + at] ?? 0) - (b[bFrom + at] ?? 0)
    if (difference !== 0) return difference
  }
  return aTo - aFrom - (bTo - bFrom)
}
