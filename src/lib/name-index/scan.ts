import { isBounded, type IndexQuery, type NumberRange } from './query.ts'
import type { Segment } from './segment.ts'
import { getRank, BLOCK, countBits, highestBit, lowestBit } from './columns.ts'
import type { Span } from './timestamp.ts'
import type { TimeSlice } from './slices.ts'

/** Texts that are tested before a scan: some 0.1 ms of work. */
const FEW_TEXTS = 1_024

/** Whether the record at a position matches. */
type Condition = (position: number) => boolean

/** Returns what bits do not decide, the cheapest first. */
function toConditions(segment: Segment, query: IndexQuery): readonly Condition[] {
  const {
    keys,
    registered,
    modified,
    statusAt,
    agent,
    agents,
    tagged,
    tags,
    tagSets,
    discarded,
    discardedAt,
  } = segment.columns
  const { discardedUntil } = query
  const conditions: Condition[] = []
  if (segment.firstDiscarded <= discardedUntil)
    conditions.push((position) => {
      const rank = getRank(discarded, position)
      return rank < 0 || (discardedAt[rank] ?? 0) > discardedUntil
    })
  // A segment that is sorted by the date has a range of it.
  if (registered !== keys && isBounded(query.registered))
    conditions.push((position) => isWithin(query.registered, registered[position] ?? NaN))
  if (isBounded(query.modified))
    conditions.push((position) => isWithin(query.modified, modified[position] ?? NaN))
  if (isBounded(query.status))
    conditions.push((position) => isWithin(query.status, statusAt[position] ?? NaN))
  if (registered === keys && isBounded(query.deleted))
    conditions.push((position) => isWithin(query.deleted, segment.deletedAt(position)))
  for (const { of, test } of query.texts) {
    if (of === 'agents') {
      const isWanted = testedOnce(agents, test)
      conditions.push((position) => isWanted(agent[position] ?? 0))
    } else {
      const isWanted = testedOnce(tagSets, test)
      const withoutTags = test('')
      conditions.push((position) => {
        const rank = getRank(tagged, position)
        return rank < 0 ? withoutTags : isWanted(tags[rank] ?? 0)
      })
    }
  }
  for (const test of query.tests) conditions.push((position) => test.matches(segment, position))
  for (const test of query.records) conditions.push((position) => test(segment, position))
  return conditions
}

/** Whether no record has a wanted text, if so few are to be tested. */
function lacksTexts({ columns }: Segment, { texts }: IndexQuery): boolean {
  return texts.some(({ of, test }) => columns[of].length <= FEW_TEXTS && !['', ...columns[of]].some(test))
}

/** Tests each text when a record has it: most texts may belong to none that is left. */
function testedOnce(texts: readonly string[], test: (text: string) => boolean): (index: number) => boolean {
  const tested = new Uint8Array(texts.length)
  return (index) => {
    if (tested[index] === 0) tested[index] = test(texts[index] ?? '') ? 1 : 2
    return tested[index] === 1
  }
}

const isWithin = ({ from, to }: Span, date: number): boolean => date >= from && date <= to

/** Positions of a segment: the first inclusive, the second exclusive. */
export type Range = readonly [from: number, to: number]

/** Blocks that a word of grams is about. At worst some 0.1 ms of work, after which the clock is checked. */
const GROUP = 32

/**
 * Iterates over the records of a segment that match a query, in one direction. The planes are combined, 32 records at a time; only
 * the remaining records are compared one by one.
 */
export class Scan {
  readonly segment: Segment
  /** Position of the current match; -1 if there is none left. */
  position = -1
  readonly #newestFirst: boolean
  readonly #range: Range
  readonly #query: IndexQuery
  readonly #conditions: readonly Condition[]
  /** Columns that a match has a value in. */
  readonly #needed: readonly Uint32Array[]
  readonly #candidates: readonly ((block: number) => number)[]
  /** Where the words of each gram and of each plane begin. */
  readonly #gramStarts: readonly number[]
  readonly #setStarts: readonly number[]
  readonly #unsetStarts: readonly number[]
  readonly #marked: Uint32Array | undefined
  #live: Uint32Array
  /** The next group of blocks, and the one after the last. */
  #nextGroup: number
  readonly #endGroup: number
  /** The first block of the current group, and which of its blocks are still to be searched. */
  #firstBlock = 0
  #blocks = 0
  /** The current block, and which of its records are still to be compared. */
  #block = 0
  #bits = 0

  constructor(segment: Segment, query: IndexQuery, range: Range, newestFirst: boolean) {
    this.segment = segment
    this.#newestFirst = newestFirst
    this.#query = query
    this.#live = segment.live
    this.#marked = query.isMarked === undefined ? undefined : segment.marked
    const isEmpty = query.isImpossible || range[0] >= range[1] || lacksTexts(segment, query)
    this.#range = range
    this.#conditions = toConditions(segment, query)
    this.#needed = toNeeded(segment, query)
    this.#candidates = query.candidates.map((candidates) => candidates(segment))
    const gramWords = Math.ceil(segment.words / BLOCK)
    this.#gramStarts = query.grams.map((gram) => gram * gramWords)
    this.#setStarts = query.set.map((plane) => plane * segment.words)
    this.#unsetStarts = query.unset.map((plane) => plane * segment.words)
    const [first, after] = isEmpty ? [0, 0] : [getGroup(range[0]), getGroup(range[1] - 1) + 1]
    this.#nextGroup = newestFirst ? first : after - 1
    this.#endGroup = newestFirst ? after : first - 1
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
      if (this.#toNextBlock()) continue
      if (!this.#toNextGroup()) {
        this.position = -1
        return 'ended'
      }
      if (slice?.isOver === true) return 'paused'
    }
  }

  /** Returns the number of matches in the next group, past which it advances; undefined if there is none. */
  countNext(): number | undefined {
    if (!this.#toNextGroup()) return undefined
    let count = 0
    while (this.#toNextBlock()) {
      if (this.#conditions.length === 0) count += countBits(this.#bits)
      else
        for (let rest = this.#bits; rest !== 0; rest &= rest - 1)
          if (this.#matches((this.#block << 5) + lowestBit(rest))) count++
    }
    return count
  }

  /** From now on, removals of records have no effect. */
  freeze(): void {
    this.#live = this.#live.slice()
  }

  /** Advances to the next block of the group that has records left. */
  #toNextBlock(): boolean {
    while (this.#blocks !== 0) {
      const bit = this.#newestFirst ? lowestBit(this.#blocks) : highestBit(this.#blocks)
      this.#blocks ^= 1 << bit
      this.#block = this.#firstBlock + bit
      this.#bits = this.#toBits(this.#block)
      if (this.#bits !== 0) return true
    }
    return false
  }

  /** Advances to the next group that may have matches, before its first block. */
  #toNextGroup(): boolean {
    const { grams } = this.segment.columns
    const starts = this.#gramStarts
    const step = this.#newestFirst ? 1 : -1
    while (this.#nextGroup !== this.#endGroup) {
      const group = this.#nextGroup
      this.#nextGroup += step
      let blocks = -1
      for (let i = 0; i < starts.length && blocks !== 0; i++) blocks &= grams[(starts[i] ?? 0) + group] ?? 0
      if (blocks === 0) continue
      this.#firstBlock = group * GROUP
      this.#blocks = blocks
      return true
    }
    return false
  }

  /** Returns the records of a block that bits do not rule out. */
  #toBits(block: number): number {
    const { planes } = this.segment.columns
    const set = this.#setStarts
    const unset = this.#unsetStarts
    let bits = this.#live[block] ?? 0
    for (let i = 0; i < set.length && bits !== 0; i++) bits &= planes[(set[i] ?? 0) + block] ?? 0
    if (this.#marked !== undefined) {
      const marked = this.#marked[block] ?? 0
      bits &= this.#query.isMarked === true ? marked : ~marked
    }
    if (bits === 0) return 0
    for (let i = 0; i < unset.length; i++) bits &= ~(planes[(unset[i] ?? 0) + block] ?? 0)
    for (const range of this.#query.ranges) bits &= this.#withinNumbers(block, range)
    for (const present of this.#needed) bits &= present[block] ?? 0
    bits &= this.#withinRange(block)
    for (let i = 0; i < this.#candidates.length && bits !== 0; i++) bits &= this.#candidates[i]?.(block) ?? -1
    return bits
  }

  /** The records of a block that are in the range. */
  #withinRange(block: number): number {
    const [from, to] = this.#range
    const before = from - (block << 5)
    const within = to - (block << 5)
    if (before >= 32 || within <= 0) return 0
    return (before > 0 ? -1 << before : -1) & (within < 32 ? -1 >>> (32 - within) : -1)
  }

  /** Compares the binary digits of 32 numbers with both bounds, the highest first. */
  #withinNumbers(block: number, { planes, min, max }: NumberRange): number {
    const { words, columns } = this.segment
    let [greater, less] = [0, 0]
    let [isMin, isMax] = [-1, -1]
    for (let bit = planes.length - 1; bit >= 0; bit--) {
      const digit = columns.planes[(planes[bit] ?? 0) * words + block] ?? 0
      if ((min >>> bit) & 1) isMin &= digit
      else {
        greater |= isMin & digit
        isMin &= ~digit
      }
      if ((max >>> bit) & 1) {
        less |= isMax & ~digit
        isMax &= digit
      } else isMax &= ~digit
    }
    return (greater | isMin) & (less | isMax)
  }

  #matches(position: number): boolean {
    const conditions = this.#conditions
    for (let i = 0; i < conditions.length; i++) if (conditions[i]?.(position) === false) return false
    return true
  }
}

const getGroup = (position: number): number => Math.floor(position / (BLOCK * GROUP))

function toNeeded({ columns }: Segment, query: IndexQuery): readonly Uint32Array[] {
  const needed: Uint32Array[] = []
  if (isBounded(query.deleted)) needed.push(columns.free.present)
  if (query.texts.some(({ of, test }) => of === 'tagSets' && !test(''))) needed.push(columns.tagged.present)
  return needed
}
