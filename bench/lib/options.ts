import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    names: { type: 'string', default: '1000000' },
  },
})

/** How often every contender has its turn. */
export const ROUNDS = whole(values.rounds, 'rounds', 50)
/** How long a turn under load lasts. */
export const SECONDS = whole(values.seconds, 'seconds', 30)
/** Names that are loaded and taken out, where a bench does that. */
export const NAMES = whole(values.names, 'names', 10_000_000)

function whole(text: string, name: string, max: number): number {
  const value = Number(text)
  if (!Number.isInteger(value) || value < 1 || value > max) {
    throw new Error(`--${name} takes a whole number from 1 to ${max}`)
  }
  return value
}
