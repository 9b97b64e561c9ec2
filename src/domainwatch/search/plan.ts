import { goneBefore } from '../discarding.ts'
import { NAME_FILTERS, type Filters } from '../matches.ts'
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

export function planOf(filters: Filters, now: number, status?: number): Plan {
  const { length, minLength, maxLength, from, to, hyphen, digits, idn } = filters
  const planes: [plane: number, wanted: number | undefined][] = [
    [Plane.status, filters.status],
    [Plane.status, status],
    [Plane.reserved, filters.reserve ? 1 : undefined],
    [Plane.revision, filters.rev ? 1 : undefined],
    [Plane.discarded, filters.dis ? 1 : undefined],
    [Plane.hyphen, hyphen],
    [Plane.digits, digits],
    [Plane.idn, idn],
  ]
  const tests = NAME_FILTERS.flatMap((kind) => {
    const wanted = filters[kind]
    return wanted === undefined ? [] : [new TextTest(kind, wanted)]
  })
  const shortest = tests.map((test) => test.minLength)
  const longest = tests.map((test) => test.maxLength)
  return {
    set: planes.filter(([, wanted]) => wanted === 1).map(([plane]) => plane),
    unset: planes.filter(([, wanted]) => wanted === 0).map(([plane]) => plane),
    minLength: Math.max(1, length ?? 1, minLength ?? 1, ...shortest),
    maxLength: Math.min(MAX_LENGTH, length ?? MAX_LENGTH, maxLength ?? MAX_LENGTH, ...longest),
    from: from === undefined ? -Infinity : momentOf(from),
    to: to === undefined ? Infinity : momentOf(to),
    agent: filters.agent,
    tests,
    signatures:
      tests.length === 1 ? (tests[0]?.planes ?? []) : [...new Set(tests.flatMap(({ planes }) => planes))],
    goneBefore: goneBefore(now),
  }
}
