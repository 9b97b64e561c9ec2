import { countBits, BLOCK, numberAt, sizeOf, type Columns, getRank } from './columns.ts'
import { HYPHEN, SYMBOL_OF, symbolPlane, type NumberPlanes } from './planes.ts'

/** A position in the order of a list: a timestamp, and the Latin-1 bytes of a name. */
export interface EntryKey {
  readonly key: number
  readonly name: Uint8Array
}

/** An entry key, or the position after all entries of a timestamp. */
type Boundary = Pick<EntryKey, 'key'> & Partial<EntryKey>

/** Which records of a segment, live or not, something outside of the index marks: a bit per record. */
export interface Marks {
  readonly version: number
  readonly bits: Uint32Array
}

/** Columns, and which of their records are live, that is, not changed or deleted since. */
export class Segment {
  readonly columns: Columns
  /** A bit per record. */
  readonly live: Uint32Array
  /** Words of `live` and of each plane. */
  readonly words: number
  readonly bytes: number
  /** The bytes of `names`. */
  readonly #text: Buffer
  /** When the first of the discarded records was discarded: milliseconds since 1970. */
  readonly firstDiscarded: number
  #liveCount: number
  #marks: Marks | undefined

  /**
   * @param live which records are live, unless all are
   * @param like another segment of the same columns, to share what is derived from them
   */
  constructor(columns: Columns, live?: Uint32Array, like?: Segment) {
    this.columns = columns
    this.#text = Buffer.from(columns.names.buffer)
    this.words = Math.ceil(columns.count / BLOCK)
    this.live = new Uint32Array(this.words).fill(0xffff_ffff)
    const beyond = columns.count % BLOCK
    if (beyond > 0) this.live[this.words - 1] = 2 ** beyond - 1
    this.bytes = like?.bytes ?? sizeOf(columns) + this.live.byteLength
    this.firstDiscarded =
      like?.firstDiscarded ?? columns.discardedAt.reduce((first, at) => Math.min(first, at), Infinity)
    this.#liveCount = columns.count
    if (like !== undefined) this.#marks = like.#marks
    if (live === undefined) return
    this.live.set(live)
    this.#liveCount = live.reduce((sum, bits) => sum + countBits(bits), 0)
  }

  get liveCount(): number {
    return this.#liveCount
  }

  /** The version of its marks; -1 without any. */
  get marksVersion(): number {
    return this.#marks?.version ?? -1
  }

  /** Which records are marked: a bit per record. @throws if no marks were set */
  get marked(): Uint32Array {
    if (this.#marks === undefined) throw new Error('a segment without marks')
    return this.#marks.bits
  }

  /** Sets which records are marked, unless its marks are of a later version. */
  setMarks(marks: Marks): void {
    if (marks.version > this.marksVersion) this.#marks = marks
  }

  isLive(position: number): boolean {
    return ((this.live[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0
  }

  /** Marks the record at this position as no longer live. @returns whether it was */
  remove(position: number): boolean {
    if (!this.isLive(position)) return false
    const word = position >>> 5
    this.live[word] = (this.live[word] ?? 0) & ~(1 << (position & 31))
    this.#liveCount--
    return true
  }

  /** Returns the position of the live record with this key; -1 if there is none. */
  find(entry: EntryKey): number {
    const position = this.lowerBound(entry, true)
    if (position === this.columns.count || this.#compare(position, entry) !== 0) return -1
    return this.isLive(position) ? position : -1
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

  /** The number that a record has in these planes. */
  toNumber(planes: NumberPlanes, position: number): number {
    const { words, columns } = this
    const block = position >>> 5
    let number = 0
    for (let digit = 0; digit < planes.length; digit++) {
      const bits = columns.planes[(planes[digit] ?? 0) * words + block] ?? 0
      number |= ((bits >>> (position & 31)) & 1) << digit
    }
    return number
  }

  /** Which records have a letter in their names: a bit per record. */
  letterPlane(letter: number): Uint32Array {
    const from = symbolPlane(SYMBOL_OF[letter] ?? NaN) * this.words
    return this.columns.planes.subarray(from, from + this.words)
  }

  /** When the record was discarded: milliseconds since 1970; NaN if it is not. */
  discardedAt(position: number): number {
    const { discarded, discardedAt } = this.columns
    return discardedAt[getRank(discarded, position)] ?? NaN
  }

  /** When the record was deleted: a timestamp; NaN if it is bought. */
  deletedAt(position: number): number {
    const { free, deleted } = this.columns
    return deleted[getRank(free, position)] ?? NaN
  }

  /** The tags of the record, each with a space before and after it; empty if it has none. */
  toTags(position: number): string {
    const { tagged, tags, tagSets } = this.columns
    return tagSets[tags[getRank(tagged, position)] ?? -1] ?? ''
  }

  /** The number with this key of a record; NaN if it has none. */
  importedNumber(key: string, position: number): number {
    return numberAt(this.columns, key, position)
  }

  /** All numbers of a record, by key. */
  numbersOf(position: number): ReadonlyMap<string, number> {
    const keys = this.columns.numbers.map(({ key }) => key)
    const numbers = keys.map((key) => [key, this.importedNumber(key, position)] as const)
    return new Map(numbers.filter(([, number]) => !Number.isNaN(number)))
  }

  /** The words that the name of a record consists of; none if it does not. */
  toWords(position: number): readonly string[] {
    const { names, starts, wordEnds } = this.columns
    const words: string[] = []
    const end = starts[position + 1] ?? 0
    let from = starts[position] ?? 0
    for (let at = from; at < end; at++) {
      if (names[at] === HYPHEN) from = at + 1
      else if ((((wordEnds[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1) {
        words.push(this.textOf(from, at + 1))
        from = at + 1
      }
    }
    return words
  }

  /** Returns a copy that later removals do not affect. */
  snapshot(): Segment {
    return new Segment(this.columns, this.live, this)
  }

  getLength(position: number): number {
    const { starts } = this.columns
    return (starts[position + 1] ?? 0) - (starts[position] ?? 0)
  }

  /** Returns some of `names` as text. */
  textOf(from: number, to: number): string {
    return this.#text.toString('latin1', from, to)
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
