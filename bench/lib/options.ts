import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    only: { type: 'string' },
    records: { type: 'string', default: '1000000' },
  },
})

/** How often every contender has its turn. */
export const ROUNDS = whole(values.rounds, 'rounds', 50)
/** How long a turn under load lasts. */
export const SECONDS = whole(values.seconds, 'seconds', 30)

/** Records present, where a bench takes any number. */
export const RECORDS = whole(values.records, 'records', 10_000_000)

/** Whether a part of a bench is wanted: all of them, but where some are named. */
export const wants = (part: string) => values.only === undefined || values.only.split(',').includes(part)

function whole(text: string, name: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} takes a whole number from 1 to ${max}`)
  }
  return value
}
