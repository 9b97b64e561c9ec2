import { highestBit, lowestBit, setBits, BLOCK, MAX_LENGTH, Plane, type Columns } from './columns.ts'
import { Key, wordsOfKey, blocksWithin } from './block-index.ts'
import { isBounded, type IndexQuery } from './query.ts'
import type { Segment } from './segment.ts'
import type { TimeSlice } from './slices.ts'
import type { Span } from './timestamp.ts'

/** Positions of a segment: the first inclusive, the second exclusive. */
export type Range = readonly [from: number, to: number]

/**
 * Iterates over the records of a segment that match a query, in one direction. Blocks without a key of the query
 * are skipped, 32 at a time; the planes of the other blocks are combined, 32 records at a time; only the remaining
 * records are compared one by one.
 */
export class Scan {
  readonly segment: Segment
  /** The number of positions in the given range. */
  readonly positions: number
  /** Position of the current match; -1 if there is none left. */
  position = -1
  readonly #query: IndexQuery
  readonly #range: Range
  readonly #newestFirst: boolean
  readonly #rows: readonly Row[]
  readonly #terms: readonly Term[]
  #live: Uint32Array
  readonly #planes: Uint32Array
  readonly #conditions: readonly Condition[]
  readonly #isBounded: boolean
  /** The number of the current 32 blocks, and of the last ones in this direction. */
  #stripe: number
  readonly #lastStripe: number
  /** The blocks of the current 32 that are still to be searched. */
  #waiting = 0
  /** The current block, and its records that are still to be compared. */
  #block = 0
  #bits = 0

  constructor(segment: Segment, query: IndexQuery, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.positions = range[1] - range[0]
    this.#query = query
    this.#newestFirst = newestFirst
    this.#live = segment.live
    this.#planes = segment.columns.planes
    const conditions = conditionsOf(segment, query)
    const rows =
      conditions !== undefined && range[0] < range[1] ? rowsOf(query, segment.columns, range) : undefined
    this.#conditions = conditions ?? []
    this.#range = rows === undefined ? NOWHERE : range
    this.#rows = rows ?? []
    this.#terms = rows === undefined ? [] : termsOf(segment, query)
    this.#isBounded = query.minLength > 1 || query.maxLength < MAX_LENGTH
    const [from, to] = this.#range
    const [first, last] = [from >>> 10, to === 0 ? -1 : (to - 1) >>> 10]
    this.#stripe = newestFirst ? first - 1 : last + 1
    this.#lastStripe = newestFirst ? last : first
  }

  /** Advances to the next match. `paused`: the slice of time is over, and there may be more. */
  next(slice?: TimeSlice): 'found' | 'ended' | 'paused' {
    for (;;) {
      while (this.#bits !== 0) {
        const bit = this.#newestFirst ? lowestBit(this.#bits) : highestBit(this.#bits)
        this.#bits ^= 1 << bit
        const position = (this.#block << 5) + bit
        if (this.#matches(position)) {
          this.position = position
          return 'found'
        }
      }
      if (this.#waiting !== 0) {
        const next = this.#newestFirst ? lowestBit(this.#waiting) : highestBit(this.#waiting)
        this.#waiting ^= 1 << next
        this.#block = (this.#stripe << 5) + next
        this.#bits = this.#bitsOf(this.#block)
      } else if (!this.#nextStripe()) {
        this.position = -1
        return 'ended'
      }
      if (slice?.isOver === true) return 'paused'
    }
  }

  /** From now on, removals of records have no effect. */
  freeze(): void {
    this.#live = this.#live.slice()
  }

  /** Advances to the next 32 blocks of which some have the keys of the query. */
  #nextStripe(): boolean {
    const step = this.#newestFirst ? 1 : -1
    const { words } = this.segment
    while (this.#stripe !== this.#lastStripe) {
      this.#stripe += step
      let candidates = -1
      for (const { bits, from } of this.#rows) candidates &= bits[from + this.#stripe] ?? 0
      const first = this.#stripe << 5
      // The last stripe may have fewer than 32 blocks.
      if (words - first < 32) candidates &= (1 << (words - first)) - 1
      if (candidates !== 0) {
        this.#waiting = candidates
        return true
      }
    }
    return false
  }

  /** Returns the records of a block that are left by bits and lengths. */
  #bitsOf(block: number): number {
    let bits = this.#live[block] ?? 0
    for (const { from, inverted } of this.#terms) {
      bits &= (this.#planes[from + block] ?? 0) ^ inverted
      if (bits === 0) return 0
    }
    bits = this.#inRange(block, bits)
    return this.#isBounded ? this.#ofLength(block, bits) : bits
  }

  /** Keeps the given records of a block whose names have a permitted length. */
  #ofLength(block: number, given: number): number {
    const { starts } = this.segment.columns
    const { minLength, maxLength } = this.#query
    let bits = 0
    for (let rest = given; rest !== 0; rest &= rest - 1) {
      const position = (block << 5) + lowestBit(rest)
      const length = (starts[position + 1] ?? 0) - (starts[position] ?? 0)
      if (length >= minLength && length <= maxLength) bits |= rest & -rest
    }
    return bits
  }

  /** Keeps the given records of a block that are in the range. */
  #inRange(block: number, given: number): number {
    const [from, to] = this.#range
    const start = block << 5
    if (start + 32 <= from || start >= to) return 0
    let bits = given
    if (start < from) bits &= -1 << (from - start)
    if (start + 32 > to) bits &= -1 >>> (start + 32 - to)
    return bits
  }

  #matches(position: number): boolean {
    for (const condition of this.#conditions) if (!condition(position)) return false
    return true
  }
}

const NOWHERE: Range = [0, 0]

/** Whether the record at a position matches. */
type Condition = (position: number) => boolean

/** Returns what bits do not decide, the cheapest first; undefined if no record has a wanted agent or the wanted tags. */
function conditionsOf(segment: Segment, query: IndexQuery): readonly Condition[] | undefined {
  const { keys, registered, modified, agent, tags } = segment.columns
  const { discardedUntil } = query
  const conditions: Condition[] = []
  if (segment.firstDiscarded <= discardedUntil && !query.unset.includes(Plane.discarded))
    conditions.push((position) => !(segment.discardedAt(position) <= discardedUntil))
  // A segment that is sorted by the date has a range of it.
  if (registered !== keys && isBounded(query.registered))
    conditions.push((position) => isWithin(query.registered, registered[position] ?? NaN))
  if (isBounded(query.modified))
    conditions.push((position) => isWithin(query.modified, modified[position] ?? NaN))
  if (isBounded(query.deleted))
    conditions.push((position) => isWithin(query.deleted, segment.deletedAt(position)))
  if (query.tags.length > 0) {
    const wanted = tags.sets.map((set) => query.tags.every((tag) => set.includes(tag)))
    if (!wanted.includes(true)) return undefined
    conditions.push((position) => wanted[segment.tagSetOf(position)] === true)
  }
  const { agent: text } = query
  if (text !== undefined) {
    const wanted = segment.foldedAgents.map((each) => each.includes(text))
    if (!wanted.includes(true)) return undefined
    conditions.push((position) => wanted[agent[position] ?? 0] === true)
  }
  for (const test of [...query.tests, ...query.words])
    conditions.push((position) => test.matches(segment, position))
  return conditions
}

const isWithin = ({ from, to }: Span, date: number): boolean => date >= from && date <= to

/** A plane whose bit a match has, or (inverted by an exclusive or) does not have. */
interface Term {
  /** Where the words of the plane begin. */
  readonly from: number
  readonly inverted: number
  /** The number of records that match this term. */
  readonly records: number
}

/** Returns the terms of a query, the most selective first. */
function termsOf({ words, columns }: Segment, query: IndexQuery): readonly Term[] {
  const { count, planeCounts } = columns
  const having = (plane: number): Term => ({
    from: plane * words,
    inverted: 0,
    records: planeCounts[plane] ?? 0,
  })
  const lacking = (plane: number): Term => ({
    from: plane * words,
    inverted: -1,
    records: count - (planeCounts[plane] ?? 0),
  })
  const terms = [...query.namePlanes.map(having), ...query.set.map(having), ...query.unset.map(lacking)]
  return terms.sort((one, other) => one.records - other.records)
}

/** A bit per block, from a word on. */
interface Row {
  readonly bits: Uint32Array
  readonly from: number
  /** The number of blocks whose bit is set. */
  readonly blocks: number
}

/** Returns the rows that blocks with matches must have, the rarest first; undefined if no block has them. */
function rowsOf(query: IndexQuery, columns: Columns, range: Range): readonly Row[] | undefined {
  const words = wordsOfKey(columns.count)
  const keys: number[] = []
  const rows: Row[] = []
  for (const test of query.tests) {
    if (test.includesALabels) rows.push(rowOfEither(test.keys, columns, words))
    else if (test.keys === undefined) return undefined
    else keys.push(...test.keys)
  }
  rows.push(...keys.map((key) => rowOf(key, columns, words)))
  if (query.minLength > 1 || query.maxLength < MAX_LENGTH) rows.push(...rowsOfLengths(query, columns, words))
  for (const column of ['modified', 'deleted'] as const) {
    if (isBounded(query[column]))
      rows.push({ ...blocksWithin(columns.zones[column], query[column], range, words), from: 0 })
  }
  return rows.some(({ blocks }) => blocks === 0) ? undefined : rows.sort((a, b) => a.blocks - b.blocks)
}

function rowOf(key: number, { blocks: { bits, counts } }: Columns, words: number): Row {
  return { bits, from: key * words, blocks: counts[key] ?? 0 }
}

/** Returns the blocks with all of the keys, or with letters beyond ASCII, whose A-label may match. */
function rowOfEither(keys: readonly number[] | undefined, columns: Columns, words: number): Row {
  const idn = rowOf(Key.idn, columns, words)
  if (keys === undefined) return idn
  const inNames = keys.map((key) => rowOf(key, columns, words))
  const either = new Uint32Array(words)
  for (let word = 0; word < words; word++) {
    let bits = -1
    for (const row of inNames) bits &= row.bits[row.from + word] ?? 0
    either[word] = bits | (idn.bits[idn.from + word] ?? 0)
  }
  return { bits: either, from: 0, blocks: Infinity }
}

/**
 * A row is skipped if at least this share of all blocks has one of its keys: it would exclude too few to be worth
 * building.
 */
const NEARLY_ALL = 0.9

/** Returns the blocks with a record of a permitted length. */
function rowsOfLengths({ minLength, maxLength }: IndexQuery, columns: Columns, words: number): Row[] {
  const rows: Row[] = []
  for (let length = minLength; length <= maxLength; length++) {
    const row = rowOf(Key.length(length), columns, words)
    if (row.blocks >= (NEARLY_ALL * columns.count) / BLOCK) return []
    if (row.blocks > 0) rows.push(row)
  }
  const either = new Uint32Array(words)
  for (const { bits, from } of rows) {
    for (let word = 0; word < words; word++) setBits(either, word, bits[from + word] ?? 0)
  }
  return [{ bits: either, from: 0, blocks: rows.reduce((sum, { blocks }) => sum + blocks, 0) }]
}
