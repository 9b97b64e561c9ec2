import { MAX_LENGTH } from './columns.ts'
import { type Layout, type Trait, LENGTH_PLANES, type NumberPlanes } from './planes.ts'
import { toNameTest, type NameTest } from './name-test.ts'
import type { Segment } from './segment.ts'
import { parseTimestamp, type Span } from './timestamp.ts'

export type DateColumn = 'registered' | 'modified' | 'deleted' | 'status'
export type TextColumn = 'agents' | 'tagSets'

/** Returns, for a block of a segment, the records that can match: a bit per record. */
export type Candidates = (segment: Segment) => (block: number) => number

/** A condition on records. */
export type IndexTerm =
  /** A trait from one number to another, both included. */
  | { readonly kind: 'trait'; readonly trait: Trait; readonly min: number; readonly max: number }
  | { readonly kind: 'length'; readonly min: number; readonly max: number }
  /** Dates, both included. A record that was never deleted matches no range of deletions. */
  | { readonly kind: 'date'; readonly of: DateColumn; readonly from?: string; readonly to?: string }
  /** A text that many records share: it is tested once for all of them. */
  | { readonly kind: 'text'; readonly of: TextColumn; readonly test: (text: string) => boolean }
  /** A pattern of `*` and `?` for the name. Undefined: matches nothing. */
  | { readonly kind: 'name'; readonly glob: string | undefined }
  /** The opposite of the term before. */
  | { readonly kind: 'notName'; readonly glob: string | undefined }
  /** Records that are marked, or are not. All segments need marks. */
  | { readonly kind: 'marked'; readonly isMarked: boolean }
  /** Anything else: each record that the other terms and its candidates leave is tested. */
  | {
      readonly kind: 'record'
      readonly test: (segment: Segment, position: number) => boolean
      readonly candidates?: Candidates | undefined
    }

const EVER: Span = { from: -Infinity, to: Infinity }

export const isBounded = ({ from, to }: Span): boolean => from !== -Infinity || to !== Infinity

/** A number whose bits are in planes, from one value to another. */
export interface NumberRange {
  readonly planes: NumberPlanes
  readonly min: number
  readonly max: number
}

/** Conditions compiled for columns. */
export interface IndexQuery {
  /** Whether no record can match. */
  readonly isImpossible: boolean
  /** Planes whose bit a match has, and planes whose bit it does not have. */
  readonly set: readonly number[]
  readonly unset: readonly number[]
  /** Whether matches are marked; undefined if that does not matter. */
  readonly isMarked: boolean | undefined
  /** Grams of the names of all matches. */
  readonly grams: readonly number[]
  readonly ranges: readonly NumberRange[]
  readonly registered: Span
  readonly modified: Span
  readonly deleted: Span
  readonly status: Span
  readonly texts: readonly Extract<IndexTerm, { readonly kind: 'text' }>[]
  readonly tests: readonly NameTest[]
  readonly records: readonly Extract<IndexTerm, { readonly kind: 'record' }>['test'][]
  readonly candidates: readonly Candidates[]
  /** Records that were discarded at this time (milliseconds since 1970) or earlier do not match. */
  readonly discardedUntil: number
}

export function compileQuery(terms: Iterable<IndexTerm>, layout: Layout, discardedUntil: number): IndexQuery {
  const numbers = new NumberRanges()
  const dates: Record<DateColumn, Span> = {
    registered: EVER,
    modified: EVER,
    deleted: EVER,
    status: EVER,
  }
  const texts: IndexQuery['texts'][number][] = []
  const tests: NameTest[] = []
  const records: IndexQuery['records'][number][] = []
  const candidates: Candidates[] = []
  let isMarked: boolean | undefined
  let isImpossible = false
  for (const term of terms) {
    switch (term.kind) {
      case 'trait':
        numbers.bound(layout.toPlanes(term.trait), term.trait.max, term.min, term.max)
        break
      case 'length':
        numbers.bound(LENGTH_PLANES, MAX_LENGTH, term.min, term.max)
        break
      case 'date': {
        const { from, to } = dates[term.of]
        dates[term.of] = {
          from: term.from === undefined ? from : Math.max(from, parseTimestamp(term.from)),
          to: term.to === undefined ? to : Math.min(to, parseTimestamp(term.to)),
        }
        break
      }
      case 'text':
        texts.push(term)
        break
      case 'name': {
        const test = toNameTest(term.glob)
        if (test === undefined) {
          isImpossible = true
          break
        }
        tests.push(test)
        numbers.bound(LENGTH_PLANES, MAX_LENGTH, test.minLength, test.maxLength)
        break
      }
      case 'notName': {
        const test = toNameTest(term.glob)
        if (test !== undefined) records.push((segment, position) => !test.matches(segment, position))
        break
      }
      case 'marked':
        isMarked = term.isMarked
        break
      case 'record':
        records.push(term.test)
        if (term.candidates !== undefined) candidates.push(term.candidates)
        break
    }
  }
  const { set, unset, ranges, isEmpty } = numbers.compiled()
  return {
    isImpossible: isImpossible || isEmpty,
    set: [...new Set(tests.flatMap(({ planes }) => planes)), ...set],
    unset,
    isMarked,
    grams: tests.flatMap(({ grams }) => grams),
    ranges,
    ...dates,
    texts,
    tests,
    records,
    candidates,
    discardedUntil,
  }
}

/** The values that each number may have. */
class NumberRanges {
  readonly #ranges = new Map<NumberPlanes, NumberRange & { readonly most: number }>()

  /** @param most the largest value that there is */
  bound(planes: NumberPlanes, most: number, min: number, max: number): void {
    const known = this.#ranges.get(planes) ?? { min: 0, max: most }
    const range = { min: Math.max(known.min, min), max: Math.min(known.max, max) }
    this.#ranges.set(planes, { planes, most, ...range })
  }

  /** A single value is decided by its digits alone. */
  compiled() {
    const set: number[] = []
    const unset: number[] = []
    const ranges: NumberRange[] = []
    let isEmpty = false
    for (const { planes, min, max, most } of this.#ranges.values()) {
      isEmpty ||= min > max
      if (min === max)
        for (const [digit, plane] of planes.entries()) ((min >>> digit) & 1 ? set : unset).push(plane)
      else if (min > 0 || max < most) ranges.push({ planes, min, max })
    }
    return { set, unset, ranges, isEmpty }
  }
}
