import {
  BLOCK,
  Segment,
  TimeSlice,
  type Candidates,
  type Columns,
  type Hit,
  compareBytes,
  visitTwins,
} from '../../lib/name-index/index.ts'
import { BOUGHT, DISCARDED, MAX_TWINS } from '../filtered-record.ts'
import { LAYOUT } from '../filters.ts'
import { expiryCutoff } from '../limits.ts'
import { nameOfHit } from './hits.ts'

/** Shorter words, such as articles, say nothing of demand. */
export const MIN_LETTERS = 3
/** Records between checks of the clock. */
const SLICE_RECORDS = 256

const MARKS = [BOUGHT, DISCARDED].flatMap((mark) => LAYOUT.toPlanes(mark))
const BOUGHT_ONLY = 1

/** Not looked up yet: no word has this number. */
const UNKNOWN = 2 ** 32 - 1

/** Counts the bought, not discarded records that have each word in their names. */
export class Demand {
  /** Numbers of words, from 1 on: at most those of the dictionary. */
  readonly #numbers = new Map<string, number>()
  /** The records of each word by its number. 0 means no word. */
  readonly #records = [0]
  /** The number of the rarest word of each record: 4 bytes each, from the first search by demand on. */
  readonly #rarest = new WeakMap<Columns, Uint32Array>()

  /** Returns the smallest count of these words; null if none of them counts. */
  readonly of = (words: readonly string[]): number | null => {
    const counted = words.filter(({ length }) => length >= MIN_LETTERS)
    return counted.length === 0 ? null : Math.min(...counted.map((word) => this.#getCount(word)))
  }

  /** Returns which records have a word, once the rarest, that at least this many records have. */
  readonly candidates =
    (wanted: number): Candidates =>
    (segment) => {
      const { count } = segment.columns
      const records = this.#records
      const rarest = this.#rarest.get(segment.columns) ?? new Uint32Array(count).fill(UNKNOWN)
      this.#rarest.set(segment.columns, rarest)
      return (block) => {
        const from = block * BLOCK
        const to = Math.min(from + BLOCK, count)
        let bits = 0
        for (let position = from; position < to; position++) {
          if (rarest[position] === UNKNOWN) rarest[position] = this.#findRarest(segment.toWords(position))
          if ((records[rarest[position] ?? 0] ?? 0) >= wanted) bits |= 1 << (position - from)
        }
        return bits
      }
    }

  #getCount(word: string): number {
    return this.#records[this.#numbers.get(word) ?? 0] ?? 0
  }

  #toNumber(word: string): number {
    let number = this.#numbers.get(word)
    if (number === undefined) this.#numbers.set(word, (number = this.#records.push(0) - 1))
    return number
  }

  #findRarest(words: readonly string[]): number {
    const counted = words.filter(({ length }) => length >= MIN_LETTERS)
    const [rarest = ''] = counted.toSorted((one, other) => this.#getCount(one) - this.#getCount(other))
    return rarest === '' ? 0 : this.#toNumber(rarest)
  }

  add(columns: Columns): Promise<void> {
    return this.#count(toHits(columns), 1)
  }

  remove(hits: readonly Hit[]): Promise<void> {
    return this.#count(hits, -1)
  }

  /** Returns the words of at least ten records, by name, and the digits of their number. */
  common(): readonly (readonly [word: string, digits: number])[] {
    const common: [string, number][] = []
    for (const [word, number] of this.#numbers) {
      const { length } = String(this.#records[number])
      if (length > 1) common.push([word, length])
    }
    return common.sort(([one], [other]) => (one < other ? -1 : 1))
  }

  clear(): void {
    this.#records.fill(0)
  }

  async #count(hits: Iterable<Hit>, by: number): Promise<void> {
    const slice = new TimeSlice()
    let records = 0
    for (const { segment, position } of hits) {
      if (++records % SLICE_RECORDS === 0) await slice.yieldIfOver()
      if (segment.toNumber(MARKS, position) !== BOUGHT_ONLY) continue
      for (const word of new Set(segment.toWords(position))) {
        if (word.length < MIN_LETTERS) continue
        const number = this.#toNumber(word)
        this.#records[number] = (this.#records[number] ?? 0) + by
      }
    }
  }
}

function* toHits(columns: Columns): Generator<Hit> {
  const segment = new Segment(columns)
  for (let position = 0; position < columns.count; position++) yield { segment, position }
}

const isListed = ({ segment, position }: Hit, now: number) =>
  !(segment.discardedAt(position) <= expiryCutoff(now))

/** Whether a bought record has a twin of a name, which is in Latin-1. */
export function hasBoughtTwin(segments: readonly Segment[], name: Uint8Array, now: number): boolean {
  return visitTwins(segments, name, true, (segment, position) => {
    const other = segment.nameOf(position)
    const isOther = compareBytes(other, 0, other.length, name, 0, name.length) !== 0
    return isOther && isListed({ segment, position }, now)
  })
}

/** Returns the first of a name and its twins, by name: one more than are shown of them. */
export function firstTwins(segments: readonly Segment[], name: Uint8Array, now: number): readonly string[] {
  const found: string[] = []
  visitTwins(segments, name, false, (segment, position) => {
    const hit = { segment, position }
    if (isListed(hit, now)) found.push(nameOfHit(hit))
    return false
  })
  return found.sort().slice(0, MAX_TWINS + 1)
}
