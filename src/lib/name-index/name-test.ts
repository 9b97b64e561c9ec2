import { BEGIN, END, isLetter, SYMBOL_OF, orderPlanes, pairPlane, symbolPlane } from './planes.ts'
import { Key } from './block-index.ts'
import { rankOf, type Segment } from './segment.ts'
import { MAX_LENGTH, type Columns } from './columns.ts'

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

const NO_STATES = new Int32Array(0)

/**
 * A pattern of `*` (any text) and `?` (any one character) as a nondeterministic automaton for texts of one byte per character.
 * State `n` means that the first `n` characters of the pattern have matched. The active states are the bits of two words, so
 * a byte takes a few operations and no branch (Shift-And: Baeza-Yates and Gonnet, "A new approach to text searching", 1992).
 */
export class BytePattern {
  /** For each byte, the states that it advances: 0 to 31, and 32 to 63, which short patterns do not have. */
  readonly #low = new Int32Array(256)
  readonly #high: Int32Array
  /** The states at a star, which stay active for any byte. */
  #starsLow = 0
  #starsHigh = 0
  /** The number of characters other than stars, and so the accepting state. */
  readonly #length: number

  constructor(pattern: Uint8Array) {
    this.#high = pattern.length > 32 ? new Int32Array(256) : NO_STATES
    let state = 0
    for (const code of pattern) {
      const bit = 1 << (state & 31)
      if (code === STAR) {
        if (state < 32) this.#starsLow |= bit
        else this.#starsHigh |= bit
        continue
      }
      const steps = state < 32 ? this.#low : this.#high
      const [first, last] = code === ONE ? [0, 255] : [code, code]
      for (let byte = first; byte <= last; byte++) steps[byte] = (steps[byte] ?? 0) | bit
      state++
    }
    this.#length = state
  }

  /** Returns whether the pattern matches all bytes of a range. */
  matches(bytes: Uint8Array, from: number, to: number): boolean {
    const length = this.#length
    if (to - from < length || length > MAX_LENGTH) return false
    return length < 32 ? this.#matchesShort(bytes, from, to) : this.#matchesLong(bytes, from, to)
  }

  /** For up to 31 characters, whose states fit in the low word. */
  #matchesShort(bytes: Uint8Array, from: number, to: number): boolean {
    const steps = this.#low
    const stars = this.#starsLow
    let states = 1
    for (let at = from; at < to && states !== 0; at++) {
      states = ((states & (steps[bytes[at] ?? 0] ?? 0)) << 1) | (states & stars)
    }
    return (states & (1 << this.#length)) !== 0
  }

  #matchesLong(bytes: Uint8Array, from: number, to: number): boolean {
    let low = 1
    let high = 0
    for (let at = from; at < to && (low | high) !== 0; at++) {
      const byte = bytes[at] ?? 0
      const lowSteps = low & (this.#low[byte] ?? 0)
      low = (lowSteps << 1) | (low & this.#starsLow)
      high = ((high & (this.#high[byte] ?? 0)) << 1) | (lowSteps >>> 31) | (high & this.#starsHigh)
    }
    return (high & (1 << (this.#length - 32))) !== 0
  }
}
