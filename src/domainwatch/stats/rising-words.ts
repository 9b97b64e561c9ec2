import { addDays } from './days.ts'

const WEEK_DAYS = 7
/** The weeks that the last one is compared with. */
const EARLIER_WEEKS = 12
/** Names of the last week with a word: fewer are chance. */
const MIN_COUNT = 3

/** The days of the last week, and of the weeks before it. */
export interface WordWeeks {
  /** The first moment of the earlier weeks, of the last week, and the last moment of it. */
  readonly from: string
  readonly lastWeek: string
  readonly to: string
}

/** @param today the last day of the last week */
export function wordWeeks(today: string): WordWeeks {
  const lastWeek = addDays(today, 1 - WEEK_DAYS)
  return {
    from: `${addDays(lastWeek, -WEEK_DAYS * EARLIER_WEEKS)} 00:00:00`,
    lastWeek: `${lastWeek} 00:00:00`,
    to: `${today} 23:59:59`,
  }
}

/** Finds the words that more newly registered names have in the last week than in the weeks before. */
export class RisingWords {
  readonly #counts = new Map<string, { week: number; earlier: number }>()

  /** Counts the words of one name, each once. */
  add(words: Iterable<string>, isLastWeek: boolean): void {
    for (const word of new Set(words)) {
      let counts = this.#counts.get(word)
      if (counts === undefined) this.#counts.set(word, (counts = { week: 0, earlier: 0 }))
      if (isLastWeek) counts.week++
      else counts.earlier++
    }
  }

  /**
   * Returns the words with the clearest rise: by how many standard deviations of a Poisson distribution the week exceeds the
   * mean of the earlier ones, to which one name is added so that a new word does not beat all others.
   * @param limit how many words
   */
  top(limit: number) {
    const rising = [...this.#counts]
      .map(([word, { week, earlier }]) => ({ word, week, mean: earlier / EARLIER_WEEKS }))
      .filter(({ week, mean }) => week >= MIN_COUNT && week > mean)
      .map((each) => ({ ...each, rise: (each.week - each.mean) / Math.sqrt(each.mean + 1) }))
      .toSorted((one, other) => other.rise - one.rise || (one.word < other.word ? -1 : 1))
      .slice(0, limit)
    return {
      word: rising.map(({ word }) => word),
      week: rising.map(({ week }) => week),
      mean: rising.map(({ mean }) => Math.round(mean * 100) / 100),
    }
  }
}
