import { MAX_LENGTH, Plane } from './columns.ts'
import { NameTest, WordTest } from './name-test.ts'
import { parseTimestamp, type Span } from './timestamp.ts'

/** A condition on records. */
export type IndexTerm =
  | { readonly kind: 'bit'; readonly of: keyof typeof Plane; readonly value: number }
  | { readonly kind: 'length'; readonly min?: number; readonly max?: number }
  /** Dates, both included. A record that was never deleted, or whose registration is unknown, matches no range of those. */
  | { readonly kind: 'date'; readonly of: DateColumn; readonly from?: string; readonly to?: string }
  /** The number of words of the name, less than `MAX_WORDS`. */
  | { readonly kind: 'words'; readonly count: number }
  /** One of the words that the name consists of. */
  | { readonly kind: 'word'; readonly word: string }
  /** A whole tag. */
  | { readonly kind: 'tag'; readonly tag: string }
  /** Text in the agent, in lower case. */
  | { readonly kind: 'agent'; readonly text: string }
  /**
   * Patterns of `*` and `?`: one for the name, and an alternative one for its A-label. Undefined: matches nothing.
   */
  | { readonly kind: 'name'; readonly glob: string | undefined; readonly aLabelGlob: string | undefined }

export type DateColumn = 'registered' | 'modified' | 'deleted'

const EVER: Span = { from: -Infinity, to: Infinity }

export const isBounded = ({ from, to }: Span): boolean => from !== -Infinity || to !== Infinity

/** Conditions compiled for columns. */
export interface IndexQuery {
  /** Planes whose bit a match has, and planes whose bit it does not have. */
  readonly set: readonly number[]
  readonly unset: readonly number[]
  /** Planes whose bit follows from `tests`. */
  readonly namePlanes: readonly number[]
  readonly minLength: number
  readonly maxLength: number
  readonly registered: Span
  readonly modified: Span
  readonly deleted: Span
  readonly agent: string | undefined
  readonly tags: readonly string[]
  readonly tests: readonly NameTest[]
  readonly words: readonly WordTest[]
  /** Records that were discarded at this time (milliseconds since 1970) or earlier do not match. */
  readonly discardedUntil: number
}

export function compileQuery(terms: Iterable<IndexTerm>, discardedUntil: number): IndexQuery {
  const set: number[] = []
  const unset: number[] = []
  const tests: NameTest[] = []
  const words: WordTest[] = []
  let [minLength, maxLength] = [1, MAX_LENGTH]
  const dates: Record<DateColumn, Span> = { registered: EVER, modified: EVER, deleted: EVER }
  const tags: string[] = []
  let agent: string | undefined
  const boundLength = (min = 1, max = MAX_LENGTH) => {
    minLength = Math.max(minLength, min)
    maxLength = Math.min(maxLength, max)
  }
  for (const term of terms) {
    switch (term.kind) {
      case 'bit':
        ;(term.value === 1 ? set : unset).push(Plane[term.of])
        break
      case 'length':
        boundLength(term.min, term.max)
        break
      case 'date': {
        const { from, to } = dates[term.of]
        dates[term.of] = {
          from: term.from === undefined ? from : Math.max(from, parseTimestamp(term.from)),
          to: term.to === undefined ? to : Math.min(to, parseTimestamp(term.to)),
        }
        break
      }
      case 'words':
        for (const [bit, plane] of [Plane.words1, Plane.words2, Plane.words4].entries()) {
          ;((term.count >>> bit) & 1 ? set : unset).push(plane)
        }
        break
      case 'word':
        tests.push(new NameTest(/[*?]/.test(term.word) ? undefined : `*${term.word}*`, undefined))
        words.push(new WordTest(term.word))
        break
      case 'tag':
        tags.push(` ${term.tag} `)
        break
      case 'agent':
        agent = term.text
        break
      case 'name': {
        const test = new NameTest(term.glob, term.aLabelGlob)
        tests.push(test)
        boundLength(test.minLength, test.maxLength)
        break
      }
    }
  }
  if (tags.length > 0) set.push(Plane.tagged)
  if (isBounded(dates.deleted)) unset.push(Plane.status)
  if (isBounded(dates.registered)) unset.push(Plane.undated)
  const namePlanes = [...new Set(tests.flatMap(({ planes }) => planes))]
  return { set, unset, namePlanes, minLength, maxLength, ...dates, agent, tags, tests, words, discardedUntil }
}
