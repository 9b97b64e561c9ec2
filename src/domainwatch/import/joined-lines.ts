import type { Line } from './lines.ts'

/** Lines that one record may stretch over, where a quoted field holds line ends: an agent has at most 100 characters. */
const MAX_JOINED = 101

/** Whether a text is a record, would be one if it went on, or is none however it goes on. */
export type Completeness = 'complete' | 'open' | 'broken'

/**
 * Joins lines that one record stretches over; the carriage return at its end, if there is one, is no part of it. Where a
 * record does not come to an end, its first line is passed on as it is, and those behind it stand for themselves: a stray
 * quote loses no line but its own.
 */
export async function* joinLines(
  lines: AsyncIterable<Line>,
  completeness: (text: string) => Completeness,
): AsyncGenerator<Line> {
  let held: Line[] = []
  /** The first so many of them are known to be open: each text is looked at once. */
  let open = 0
  function* settled(isEnd: boolean): Generator<Line> {
    while (held.length > 0) {
      const [first] = held
      const count = recordLength(held, open, completeness)
      if (count === 'open') open = held.length
      if (first === undefined || (count === 'open' && !isEnd && held.length < MAX_JOINED)) return
      const taken = typeof count === 'number' ? count : 1
      yield { number: first.number, text: joined(held, taken) }
      held = held.slice(taken)
      open = 0
    }
  }
  for await (const line of lines) {
    held.push(line)
    yield* settled(false)
  }
  yield* settled(true)
}

/** How many of the lines make up the first record. */
function recordLength(lines: readonly Line[], open: number, completeness: (text: string) => Completeness) {
  for (let count = open + 1; count <= lines.length; count++) {
    const text = joined(lines, count)
    const state = text === undefined ? 'broken' : completeness(text)
    if (state === 'complete') return count
    if (state === 'broken') return 'broken'
  }
  return 'open'
}

function joined(lines: readonly Line[], count: number): string | undefined {
  const texts = lines.slice(0, count).map(({ text }) => text)
  return texts.includes(undefined) ? undefined : texts.join('\n').replace(/\r$/, '')
}
