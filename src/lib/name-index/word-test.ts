import type { Columns } from './columns.ts'
import type { Segment } from './segment.ts'

const HYPHEN = 0x2d

/** Calls `see` with each word of the name at a position, until it returns true. @returns whether it did */
function someWord(
  { names, starts, wordEnds }: Columns,
  position: number,
  see: (from: number, to: number) => boolean,
): boolean {
  const end = starts[position + 1] ?? 0
  let from = starts[position] ?? 0
  for (let at = from; at < end; at++) {
    if (names[at] === HYPHEN) from = at + 1
    else if ((((wordEnds[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1) {
      if (see(from, at + 1)) return true
      from = at + 1
    }
  }
  return false
}

/** A word that has to be one of those that a name consists of. */
export class WordTest {
  readonly #word: Uint8Array

  constructor(word: string) {
    this.#word = new Uint8Array(Buffer.from(word, 'latin1'))
  }

  matches({ columns }: Segment, position: number): boolean {
    const word = this.#word
    const { names } = columns
    return someWord(columns, position, (from, to) => {
      if (to - from !== word.length) return false
      for (let i = 0; i < word.length; i++) if (names[from + i] !== word[i]) return false
      return true
    })
  }
}

/** The words that the name at a position consists of; none if it does not. */
export function wordsOf({ columns }: Segment, position: number): readonly string[] {
  const words: string[] = []
  const text = Buffer.from(columns.names.buffer)
  someWord(columns, position, (from, to) => {
    words.push(text.toString('latin1', from, to))
    return false
  })
  return words
}
