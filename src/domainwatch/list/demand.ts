import { Segment, TimeSlice, toWords, type Columns, type Hit } from '../../lib/name-index/index.ts'
import { BOUGHT, DISCARDED } from '../filtered-record.ts'
import { LAYOUT } from '../filters.ts'

/** Shorter words, such as articles, say nothing of demand. */
const MIN_LETTERS = 3
/** Records between checks of the clock. */
const SLICE_RECORDS = 256

const MARKS = [BOUGHT, DISCARDED].flatMap((mark) => LAYOUT.toPlanes(mark))
const BOUGHT_ONLY = 1

/** Counts the bought, not discarded records that have each word in their names. */
export class Demand {
  readonly #records = new Map<string, number>()

  /** Returns the smallest count of these words; null if none of them counts. */
  readonly of = (words: readonly string[]): number | null => {
    const counted = words.filter(({ length }) => length >= MIN_LETTERS)
    return counted.length === 0 ? null : Math.min(...counted.map((word) => this.#records.get(word) ?? 0))
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
    for (const [word, count] of this.#records) {
      const { length } = String(count)
      if (length > 1) common.push([word, length])
    }
    return common.sort(([one], [other]) => (one < other ? -1 : 1))
  }

  clear(): void {
    this.#records.clear()
  }

  async #count(hits: Iterable<Hit>, by: number): Promise<void> {
    const slice = new TimeSlice()
    let records = 0
    for (const { segment, position } of hits) {
      if (++records % SLICE_RECORDS === 0) await slice.yieldIfOver()
      if (segment.toNumber(MARKS, position) !== BOUGHT_ONLY) continue
      for (const word of new Set(toWords(segment, position))) {
        if (word.length < MIN_LETTERS) continue
        const count = (this.#records.get(word) ?? 0) + by
        if (count === 0) this.#records.delete(word)
        else this.#records.set(word, count)
      }
    }
  }
}

function* toHits(columns: Columns): Generator<Hit> {
  const segment = new Segment(columns)
  for (let position = 0; position < columns.count; position++) yield { segment, position }
}
