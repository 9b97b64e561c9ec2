import type { Line } from './lines.ts'

/** Lines that one record may stretch over, where a quoted field holds line ends. */
const MAX_JOINED = 20

/** Whether a text is a record, would be one if it went on, or is none however it goes on. */
export type Completeness = 'complete' | 'open' | 'broken'

/**
 * Joins lines that one record stretches over. Where a record does not come to an end, its first line is passed on as it
 * is, and those behind it stand for themselves: a stray quote loses no line but its own.
 */
export async function* joinLines(
  lines: AsyncIterable<Line>,
  completeness: (text: string) => Completeness,
): AsyncGenerator<Line> {
  let held: Line[] = []
  function* settled(isEnd: boolean): Generator<Line> {
    while (held.length > 0) {
      const [first] = held
      const count = recordLength(held, completeness)
      if (first === undefined || (count === 'open' && !isEnd && held.length < MAX_JOINED)) return
      if (count === 'open' || count === 'broken') {
        yield first
        held = held.slice(1)
      } else {
        yield { number: first.number, text: joined(held, count) }
        held = held.slice(count)
      }
    }
  }
  for await (const line of lines) {
    held.push(line)
    yield* settled(false)
  }
  yield* settled(true)
}

/** How many of the lines make up the first record. */
function recordLength(lines: readonly Line[], completeness: (text: string) => Completeness) {
  for (let count = 1; count <= lines.length; count++) {
    const text = joined(lines, count)
    const state = text === undefined ? 'broken' : completeness(text)
    if (state === 'complete') return count
    if (state === 'broken') return 'broken'
  }
  return 'open'
}

function joined(lines: readonly Line[], count: number): string | undefined {
  if (count === 1) return lines[0]?.text
  const texts = lines.slice(0, count).map(({ text }) => text)
  return texts.includes(undefined) ? undefined : texts.join('\n')
}
