import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    records: { type: 'string', default: '1000000' },
    only: { type: 'string', default: '' },
    sizes: { type: 'string', default: '100000,1000000,10000000' },
  },
})

/** How often every contender has its turn. */
export const ROUNDS = whole(values.rounds, 'rounds', 50)
/** How long a turn under load lasts. */
export const SECONDS = whole(values.seconds, 'seconds', 30)

/** Paths, where a bench takes some. */
export const FILES: readonly string[] = positionals

/** Records present, where a bench takes any number. */
export const RECORDS = whole(values.records, 'records', 10_000_000)

/** What `--only a,b,…` names. */
const ONLY = new Set(values.only.split(',').filter(Boolean))

/** Whether a part of a bench is wanted: all of them, but where some are named. */
export const wants = (part: string) => ONLY.size === 0 || ONLY.has(part)

/** Of what a bench has to choose from, what is named: all, where none of these is. */
export function chosen<T>(from: readonly T[], nameOf: (one: T) => string): readonly T[] {
  const named = from.filter((one) => ONLY.has(nameOf(one)))
  return named.length === 0 ? from : named
}

/** Records present, in turn, where a bench tells what grows. */
export const SIZES = values.sizes.split(',').map((size) => whole(size, 'sizes', 10_000_000))

function whole(text: string, name: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} takes a whole number from 1 to ${max}`)
  }
  return value
}
