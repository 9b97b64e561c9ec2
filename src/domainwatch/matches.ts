import type { SearchText } from '../lib/domain-names.ts'
import { encodePunycode } from '../lib/punycode.ts'
import { isGone } from './discarding.ts'
import { matchesGlob } from './glob.ts'

/** The filters of a list, each undefined where it is not given. */
export interface Filters {
  /** In the name. */
  readonly search?: SearchText | undefined
  readonly starts?: SearchText | undefined
  readonly ends?: SearchText | undefined
  /** The whole name, where `*` stands for any text and `?` for any one character. */
  readonly pattern?: SearchText | undefined
  /** In the agent, lower-cased. */
  readonly agent?: string | undefined
  readonly length?: number | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  /** The first and the last `date_reg`, `YYYY-MM-DD HH:MM:SS`. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Whether there is one in the name: 0 or 1. */
  readonly hyphen?: number | undefined
  readonly digits?: number | undefined
  /** Whether the name has letters beyond ASCII: 0 or 1. */
  readonly idn?: number | undefined
  readonly status?: number | undefined
  readonly reserve: boolean
  readonly rev: boolean
  readonly dis: boolean
}

/** What filters look at in a record; what changes tell of one has it, with their key as the name. */
export interface FilteredRecord {
  readonly name: string
  readonly agent: string
  readonly status: number
  readonly reserved: number
  readonly revision: number
  /** Milliseconds since 1970; null when it is not discarded. */
  readonly discarded_at: number | null
  readonly date_reg: string
}

const TESTS: Readonly<
  Record<'search' | 'starts' | 'ends' | 'pattern', (name: string, text: string) => boolean>
> = {
  search: (name, text) => name.includes(text),
  starts: (name, text) => name.startsWith(text),
  ends: (name, text) => name.endsWith(text),
  pattern: matchesGlob,
}

/**
 * Whether a list with these filters shows the record at the moment `now`: the same that the conditions of the queries say
 * to the database.
 */
export function matches(filters: Filters, record: FilteredRecord, now: number): boolean {
  const { name, date_reg } = record
  const { agent, length, minLength, maxLength, from, to, hyphen, digits, idn, status } = filters
  if (record.discarded_at !== null && isGone(record.discarded_at, now)) return false
  if (filters.dis && record.discarded_at === null) return false
  if (filters.rev && record.revision !== 1) return false
  if (filters.reserve && record.reserved !== 1) return false
  if (status !== undefined && record.status !== status) return false
  if (length !== undefined && name.length !== length) return false
  if (minLength !== undefined && name.length < minLength) return false
  if (maxLength !== undefined && name.length > maxLength) return false
  if (from !== undefined && date_reg < from) return false
  if (to !== undefined && date_reg > to) return false
  if (hyphen !== undefined && name.includes('-') !== (hyphen === 1)) return false
  if (digits !== undefined && /[0-9]/.test(name) !== (digits === 1)) return false
  if (idn !== undefined && isIdn(name) !== (idn === 1)) return false
  if (agent !== undefined && !record.agent.toLowerCase().includes(agent)) return false
  return NAME_FILTERS.every((filter) => {
    const wanted = filters[filter]
    return wanted === undefined || holds(TESTS[filter], name, wanted)
  })
}

/** The filters that look at the text of a name. */
export const NAME_FILTERS = ['search', 'starts', 'ends', 'pattern'] as const

function holds(test: (name: string, text: string) => boolean, name: string, wanted: SearchText): boolean {
  if (test(name, wanted.text)) return true
  return wanted.ascii !== undefined && isIdn(name) && test(`xn--${encodePunycode(name)}`, wanted.ascii)
}

/** A name is of .cl's alphabet, so what is not ASCII is a letter. */
function isIdn(name: string): boolean {
  return /[^\0-\x7f]/.test(name)
}
