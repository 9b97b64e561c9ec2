import { BEGIN, END, isLetter, SYMBOL_OF } from './alphabet.ts'
import { Key } from './block-index.ts'
import { BytePattern } from './byte-pattern.ts'
import { orderPlanes, pairPlane, symbolPlane } from './planes.ts'
import { rankOf, type Segment } from './segment.ts'
import type { Columns } from './columns.ts'

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

const STAR = 0x2a
const ONE = 0x3f
/** In a run of symbols: any one character. */
const ANY = -1
/** `text*`, `*text` or `*text*`. */
const OPEN_TEXT = /^(?:\*[^*?]*\*?|[^*?]*\*)$/

/** A pattern that names have to match, with the index keys and planes of such names. */
export class NameTest {
  /** Undefined if no name matches. */
  readonly #name: BytePattern | undefined
  readonly #aLabel: BytePattern | undefined
  /** Keys of the blocks that have such names; undefined if no name matches. */
  readonly keys: readonly number[] | undefined
  /** Planes whose bit such names have; none if an A-label may match instead. */
  readonly planes: readonly number[]
  readonly minLength: number
  readonly maxLength: number

  /**
   * @param glob a pattern for the name; undefined if no name matches
   * @param aLabelGlob one for its A-label, if that may match instead
   */
  constructor(glob: string | undefined, aLabelGlob: string | undefined) {
    const pattern = patternBytes(glob)
    const ofLabel = patternBytes(aLabelGlob)
    const runs = pattern === undefined ? [] : runsOf(pattern)
    this.#name = pattern && new BytePattern(pattern)
    this.#aLabel = ofLabel && new BytePattern(ofLabel)
    this.keys = pattern && [...new Set(runs.flatMap(keysOf))]
    this.planes =
      pattern === undefined || ofLabel !== undefined
        ? []
        : [...runs.flatMap(planesOf), ...orderPlanes(pattern)]
    // For a single text at an open end, the keys already imply the minimum length.
    const isBounded = glob !== undefined && ofLabel === undefined && !OPEN_TEXT.test(glob)
    const characters = glob?.replaceAll('*', '').length ?? 0
    this.minLength = isBounded ? characters : 1
    this.maxLength = isBounded && !glob.includes('*') ? characters : Infinity
  }

  /** Whether a name may match by its A-label. */
  get includesALabels(): boolean {
    return this.#aLabel !== undefined
  }

  matches(segment: Segment, position: number): boolean {
    const { names, starts, aLabels } = segment.columns
    const name = this.#name
    if (name !== undefined && name.matches(names, starts[position] ?? 0, starts[position + 1] ?? 0))
      return true
    if (this.#aLabel === undefined) return false
    const rank = rankOf(aLabels.positions, position)
    if (aLabels.positions[rank] !== position) return false
    return this.#aLabel.matches(aLabels.bytes, aLabels.starts[rank] ?? 0, aLabels.starts[rank + 1] ?? 0)
  }
}

/** Returns a pattern in Latin-1; undefined if it contains a character that no name has. */
function patternBytes(pattern: string | undefined): Uint8Array | undefined {
  if (pattern === undefined) return undefined
  const isPossible = [...pattern.replaceAll(/[*?]/g, '')].every(isLetter)
  return isPossible ? new Uint8Array(Buffer.from(pattern, 'latin1')) : undefined
}

/** Returns the runs of symbols, in order, that every matching name has. */
function runsOf(pattern: Uint8Array): number[][] {
  const runs: number[][] = [[BEGIN]]
  for (const code of pattern) {
    if (code === STAR) runs.push([])
    else runs.at(-1)?.push(code === ONE ? ANY : (SYMBOL_OF[code] ?? ANY))
  }
  runs.at(-1)?.push(END)
  return runs
}

function keysOf(run: readonly number[]): number[] {
  const keys: number[] = []
  for (const [i, first] of run.entries()) {
    const second = run[i + 1] ?? ANY
    const third = run[i + 2] ?? ANY
    if (first === ANY) continue
    // A pair implies its symbols. A triple does not imply its pairs, as it may share its key.
    const isAlone = second === ANY && (run[i - 1] ?? ANY) === ANY
    if (isAlone && !isEdge(first)) keys.push(Key.symbol(first))
    if (second === ANY) continue
    keys.push(Key.pair(first, second))
    if (third !== ANY) keys.push(Key.triple(first, second, third))
  }
  return keys
}

function planesOf(run: readonly number[]): number[] {
  const planes: number[] = []
  for (const [i, first] of run.entries()) {
    const second = run[i + 1] ?? ANY
    if (first === ANY) continue
    if (!isEdge(first)) planes.push(symbolPlane(first))
    if (second !== ANY) planes.push(pairPlane(first, second))
  }
  return planes
}

const isEdge = (symbol: number): boolean => symbol === BEGIN || symbol === END
