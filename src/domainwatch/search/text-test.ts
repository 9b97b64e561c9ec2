import type { SearchText } from '../../lib/domain-names.ts'
import { BEGIN, END, isLetter, SYMBOL_OF } from './alphabet.ts'
import type { NAME_FILTERS } from '../matches.ts'
import { Key } from './blocks.ts'
import { BytesGlob } from './glob-bytes.ts'
import { rankOf, type Segment } from './segment.ts'
import {
  COMMON_OF,
  gapPlane,
  MOST_TIMES,
  NOT_COMMON,
  orderPlane,
  pairPlane,
  repeatPlane,
  symbolPlane,
} from './signatures.ts'

type Kind = (typeof NAME_FILTERS)[number]

const STAR = 0x2a
const ONE = 0x3f
/** In a run: any one character. */
const ANY = -1

/** What each kind looks for, as a pattern. Only in one do stars and question marks stand for something. */
const PATTERN: Readonly<Record<Kind, (text: string) => string | undefined>> = {
  search: (text) => (isWild(text) ? undefined : `*${text}*`),
  starts: (text) => (isWild(text) ? undefined : `${text}*`),
  ends: (text) => (isWild(text) ? undefined : `*${text}`),
  pattern: (text) => text,
}

const isWild = (text: string): boolean => /[*?]/.test(text)

/** A filter on the text of names, ready to be held against bytes. */
export class TextTest {
  /** Undefined when no name is so. */
  readonly #name: BytesGlob | undefined
  readonly #aLabel: BytesGlob | undefined
  /** Keys of the blocks that have such names; undefined when no name is so. */
  readonly keys: readonly number[] | undefined
  /** Planes of the signatures that such a name has; none where the A-label would do as well. */
  readonly planes: readonly number[]
  /** Bounds of the length of such a name. */
  readonly minLength: number
  readonly maxLength: number

  constructor(kind: Kind, { text, ascii }: SearchText) {
    const pattern = patternBytes(PATTERN[kind](text))
    const ofLabel = ascii === undefined ? undefined : patternBytes(PATTERN[kind](ascii))
    const runs = pattern && runsOf(pattern)
    this.#name = pattern && new BytesGlob(pattern)
    this.#aLabel = ofLabel && new BytesGlob(ofLabel)
    this.keys = runs && [...new Set(runs.flatMap(keysOf))]
    this.planes = ascii === undefined && runs !== undefined ? planesOf(runs) : []
    // Other kinds say no more of the length than their keys do.
    const isBounded = kind === 'pattern' && ascii === undefined
    const letters = text.replaceAll('*', '').length
    this.minLength = isBounded ? letters : 1
    this.maxLength = isBounded && !text.includes('*') ? letters : Infinity
  }

  /** Whether it is the A-label that is looked at as well. */
  get wantsALabel(): boolean {
    return this.#aLabel !== undefined
  }

  holds(segment: Segment, position: number): boolean {
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

/** In Latin-1; undefined when it asks for a character that no name has. */
function patternBytes(pattern: string | undefined): Uint8Array | undefined {
  if (pattern === undefined) return undefined
  const isPossible = [...pattern.replaceAll(/[*?]/g, '')].every(isLetter)
  return isPossible ? new Uint8Array(Buffer.from(pattern, 'latin1')) : undefined
}

function keysOf(run: readonly number[]): number[] {
  const keys: number[] = []
  for (const [i, first] of run.entries()) {
    const second = run[i + 1] ?? ANY
    const third = run[i + 2] ?? ANY
    const fourth = run[i + 3] ?? ANY
    if (first === ANY) continue
    // A pair says so of its characters as well, a triple does not say so of its pairs: it may share its key.
    const isAlone = second === ANY && (run[i - 1] ?? ANY) === ANY
    if (isAlone && !isEdge(first)) keys.push(Key.symbol(first))
    if (second !== ANY) keys.push(Key.pair(first, second))
    if (second === ANY || third === ANY) continue
    keys.push(Key.triple(first, second, third))
    if (fourth !== ANY) keys.push(Key.four(first, second, third, fourth))
  }
  return keys
}

function planesOf(runs: readonly (readonly number[])[]): number[] {
  const planes = new Set<number>()
  for (const run of runs) {
    for (const [i, first] of run.entries()) {
      const second = run[i + 1] ?? ANY
      const third = run[i + 2] ?? ANY
      if (first === ANY) continue
      if (!isEdge(first)) planes.add(symbolPlane(first))
      if (second !== ANY) planes.add(pairPlane(first, second))
      if (third !== ANY) planes.add(gapPlane(first, third))
    }
  }
  let before: readonly number[] = []
  const times = new Map<number, number>()
  for (const symbol of runs.flat()) {
    const count = Math.min(MOST_TIMES, (times.get(symbol) ?? 0) + 1)
    times.set(symbol, count)
    const repeated = symbol === ANY ? -1 : repeatPlane(symbol, count)
    if (repeated >= 0) planes.add(repeated)
    const common = COMMON_OF[symbol] ?? NOT_COMMON
    if (common === NOT_COMMON) continue
    for (const first of before) planes.add(orderPlane(first, common))
    if (!before.includes(common)) before = [...before, common]
  }
  return [...planes]
}

const isEdge = (symbol: number): boolean => symbol === BEGIN || symbol === END

/** Runs of characters (by number), in this order, that every name has which is so. */
function runsOf(pattern: Uint8Array): number[][] {
  const runs: number[][] = [[BEGIN]]
  for (const code of pattern) {
    if (code === STAR) runs.push([])
    else runs.at(-1)?.push(code === ONE ? ANY : (SYMBOL_OF[code] ?? ANY))
  }
  runs.at(-1)?.push(END)
  return runs
}
