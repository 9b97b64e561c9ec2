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

/** Number of turns of each contender. */
export const ROUNDS = whole(values.rounds, 'rounds', 50)
/** Duration of a turn under load. */
export const SECONDS = whole(values.seconds, 'seconds', 30)

/** Paths, for benchmarks that accept them. */
export const FILES: readonly string[] = positionals

/** Number of records, for benchmarks that accept any. */
export const RECORDS = whole(values.records, 'records', 10_000_000)

/** The parts of `--only a,b,…`. */
const ONLY = new Set(values.only.split(',').filter(Boolean))

/** Returns whether to run a part of a benchmark. Without `--only`, all parts run. */
export const wants = (part: string) => ONLY.size === 0 || ONLY.has(part)

/** Returns the items named by `--only`, or all if it names none of them. */
export function chosen<T>(from: readonly T[], nameOf: (one: T) => string): readonly T[] {
  const named = from.filter((one) => ONLY.has(nameOf(one)))
  return named.length === 0 ? from : named
}

/** Numbers of records, for benchmarks of scaling. */
export const SIZES = values.sizes.split(',').map((size) => whole(size, 'sizes', 10_000_000))

function whole(text: string, name: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} must be an integer from 1 to ${max}`)
  }
  return value
}
