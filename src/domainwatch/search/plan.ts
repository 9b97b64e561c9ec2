import { goneBefore } from '../discarding.ts'
import { conditionsOf, type Filters, type IndexTerm } from '../filters.ts'
import { Plane } from './columns.ts'
import { momentOf } from './moment.ts'
import { TextTest } from './text-test.ts'

/** What a list asks of a record, taken apart for columns: the same that `matches` says of one. */
export interface Plan {
  /** Planes whose bit must be, or must not be, set. */
  readonly set: readonly number[]
  readonly unset: readonly number[]
  readonly minLength: number
  readonly maxLength: number
  /** Bounds of `date_reg`, as moments. */
  readonly from: number
  readonly to: number
  readonly agent: string | undefined
  readonly tests: readonly TextTest[]
  /** Planes of the signatures that the names have. */
  readonly signatures: readonly number[]
  /** What was marked at this moment or before is gone. */
  readonly goneBefore: number
}

export const MAX_LENGTH = 63

/** @param also terms besides those of the filters */
export function planOf(filters: Filters, now: number, also: readonly IndexTerm[] = []): Plan {
  const set: number[] = []
  const unset: number[] = []
  const tests: TextTest[] = []
  let [minLength, maxLength] = [1, MAX_LENGTH]
  let [from, to] = [-Infinity, Infinity]
  let agent: string | undefined
  const bound = (min = 1, max = MAX_LENGTH) => {
    minLength = Math.max(minLength, min)
    maxLength = Math.min(maxLength, max)
  }
  for (const term of [...conditionsOf(filters).map(({ index }) => index), ...also]) {
    switch (term.kind) {
      case 'bit':
        ;(term.value === 1 ? set : unset).push(Plane[term.of])
        break
      case 'length':
        bound(term.min, term.max)
        break
      case 'registered':
        if (term.from !== undefined) from = Math.max(from, momentOf(term.from))
        if (term.to !== undefined) to = Math.min(to, momentOf(term.to))
        break
      case 'agent':
        agent = term.text
        break
      case 'name': {
        const test = new TextTest(term.glob, term.aLabelGlob)
        tests.push(test)
        bound(test.minLength, test.maxLength)
        break
      }
    }
  }
  const signatures = [...new Set(tests.flatMap(({ planes }) => planes))]
  return { set, unset, minLength, maxLength, from, to, agent, tests, signatures, goneBefore: goneBefore(now) }
}
