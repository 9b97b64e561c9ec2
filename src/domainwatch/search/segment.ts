import { countBits } from './bits.ts'
import { BLOCK, Plane, sizeOf, type Columns } from './columns.ts'
import { compareBytes } from './order.ts'
import { RecordTexts } from './record-texts.ts'

/** A place in a list: behind a moment, by name. Names in Latin-1. */
export interface Place {
  readonly key: number
  readonly name: Uint8Array
}

/** Columns, and which of their records are still so: those that changed since are in a newer segment. */
export class Segment {
  readonly columns: Columns
  /** A bit a record. */
  readonly live: Uint32Array
  readonly words: number
  readonly bytes: number
  /** What records say in an answer between name and date. */
  readonly texts: RecordTexts
  /** The agents as they are searched. */
  readonly foldedAgents: readonly string[]
  /** When the first of the discarded records was marked: milliseconds since 1970. */
  readonly firstDiscarded: number
  #alive: number

  /**
   * @param live which of the records are still so, where that is not all of them
   * @param like another of the same columns, to take from what follows from them alone
   */
  constructor(columns: Columns, live?: Uint32Array, like?: Segment) {
    this.columns = columns
    this.words = Math.ceil(columns.count / BLOCK)
    this.live = new Uint32Array(this.words).fill(0xffff_ffff)
    const beyond = columns.count % BLOCK
    if (beyond > 0) this.live[this.words - 1] = 2 ** beyond - 1
    this.bytes = sizeOf(columns) + this.live.byteLength
    this.texts = like?.texts ?? new RecordTexts(columns.agents)
    this.foldedAgents = like?.foldedAgents ?? columns.agents.map((agent) => agent.toLowerCase())
    this.firstDiscarded =
      like?.firstDiscarded ?? columns.discarded.at.reduce((first, at) => Math.min(first, at), Infinity)
    this.#alive = columns.count
    if (live === undefined) return
    this.live.set(live)
    this.#alive = live.reduce((sum, bits) => sum + countBits(bits), 0)
  }

  get alive(): number {
    return this.#alive
  }

  /** The record at this position is no longer so. */
  remove(position: number): void {
    const word = position >>> 5
    const bit = 1 << (position & 31)
    const bits = this.live[word] ?? 0
    if ((bits & bit) === 0) return
    this.live[word] = bits & ~bit
    this.#alive--
  }

  /** Where the record of this name and key is; -1 where there is none that is still so. */
  find(place: Place): number {
    const position = this.firstBehind(place, true)
    if (position === this.columns.count || this.compare(position, place) !== 0) return -1
    return ((this.live[position >>> 5] ?? 0) & (1 << (position & 31))) === 0 ? -1 : position
  }

  /** The first position at (if `inclusive`) or behind a place; behind all of one moment where it has no name. */
  firstBehind(place: Pick<Place, 'key'> & Partial<Place>, inclusive: boolean): number {
    let low = 0
    let high = this.columns.count
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = this.compare(middle, place)
      if (order > 0 || (order === 0 && !inclusive)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Positive where the record is newer than the place, that is, before it in the list. */
  compare(position: number, { key, name }: Pick<Place, 'key'> & Partial<Place>): number {
    const { keys, names, starts } = this.columns
    const difference = (keys[position] ?? 0) - key
    if (difference !== 0 || name === undefined) return difference
    return compareBytes(names, starts[position] ?? 0, starts[position + 1] ?? 0, name, 0, name.length)
  }

  has(plane: number, position: number): boolean {
    const word = this.columns.planes[plane * this.words + (position >>> 5)] ?? 0
    return (word & (1 << (position & 31))) !== 0
  }

  /** The marks that an answer shows, in the order of their planes, from the lowest bit on. */
  marksOf(position: number): number {
    const { planes } = this.columns
    const word = position >>> 5
    let marks = 0
    for (let plane = Plane.status; plane <= Plane.discarded; plane++) {
      marks |= (((planes[plane * this.words + word] ?? 0) >>> (position & 31)) & 1) << plane
    }
    return marks
  }

  /** When the record was discarded: milliseconds since 1970; NaN where it is not. */
  discardedAt(position: number): number {
    if (!this.has(Plane.discarded, position)) return NaN
    const { positions, at } = this.columns.discarded
    return at[rankOf(positions, position)] ?? NaN
  }

  nameOf(position: number): Uint8Array {
    const { names, starts } = this.columns
    return names.subarray(starts[position], starts[position + 1])
  }
}

/** Where `value` is in a sorted array that has it. */
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
