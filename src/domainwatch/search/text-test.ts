import type { SearchText } from '../../core/names.ts'
import { BEGIN, END, nameBytes, NO_SYMBOL, SYMBOL_OF } from './alphabet.ts'
import type { NAME_FILTERS } from '../matches.ts'
import { Key } from './blocks.ts'
import { rankOf, type Segment } from './segment.ts'
import { gapPlane, pairPlane, symbolPlane } from './signatures.ts'

type Kind = (typeof NAME_FILTERS)[number]

const STAR = 0x2a
const ONE = 0x3f
/** In a run: any one character. */
const ANY = -1

/** A filter on the text of names, ready to be held against bytes. */
export class TextTest {
  readonly #kind: Kind
  /** In Latin-1; undefined when no name is so. */
  readonly #text: Uint8Array | undefined
  readonly #ascii: Uint8Array | undefined
  /** Keys of the blocks that have such names; undefined when no name is so. */
  readonly keys: readonly number[] | undefined
  /** Planes of the signatures that such a name has; none where the A-label would do as well. */
  readonly planes: readonly number[]
  /** Bounds of the length of such a name. */
  readonly minLength: number
  readonly maxLength: number

  constructor(kind: Kind, { text, ascii }: SearchText) {
    this.#kind = kind
    this.#text = kind === 'pattern' ? patternBytes(text) : nameBytes(text)
    this.#ascii =
      ascii === undefined ? undefined : kind === 'pattern' ? patternBytes(ascii) : nameBytes(ascii)
    const runs = this.#text === undefined ? undefined : runsOf(kind, this.#text)
    this.keys = runs?.flatMap(keysOf)
    this.planes = ascii === undefined ? [...new Set(runs?.flatMap(planesOf))] : []
    // Other kinds say no more of the length than their keys do.
    const isBounded = kind === 'pattern' && ascii === undefined
    const letters = text.replaceAll('*', '').length
    this.minLength = isBounded ? letters : 1
    this.maxLength = isBounded && !text.includes('*') ? letters : Infinity
  }

  /** Whether it is the A-label that is looked at as well. */
  get wantsALabel(): boolean {
    return this.#ascii !== undefined
  }

  holds(segment: Segment, position: number): boolean {
    const { names, starts, aLabels } = segment.columns
    const text = this.#text
    if (text !== undefined && this.#test(names, starts[position] ?? 0, starts[position + 1] ?? 0, text))
      return true
    if (this.#ascii === undefined) return false
    const rank = rankOf(aLabels.positions, position)
    if (aLabels.positions[rank] !== position) return false
    return this.#test(aLabels.bytes, aLabels.starts[rank] ?? 0, aLabels.starts[rank + 1] ?? 0, this.#ascii)
  }

  #test(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
    switch (this.#kind) {
      case 'search':
        return contains(bytes, from, to, text)
      case 'starts':
        return to - from >= text.length && isAt(bytes, from, text)
      case 'ends':
        return to - from >= text.length && isAt(bytes, to - text.length, text)
      case 'pattern':
        return isLike(bytes, from, to, text)
    }
  }
}

function contains(bytes: Uint8Array, from: number, to: number, text: Uint8Array): boolean {
  const first = text[0]
  const last = to - text.length
  for (let at = from; at <= last; at++) {
    if (bytes[at] === first && isAt(bytes, at, text)) return true
  }
  return false
}

function isAt(bytes: Uint8Array, from: number, text: Uint8Array): boolean {
  for (let at = 0; at < text.length; at++) if (bytes[from + at] !== text[at]) return false
  return true
}

/** The same as `matchesGlob`, on bytes. */
function isLike(bytes: Uint8Array, from: number, to: number, pattern: Uint8Array): boolean {
  let at = from
  let place = 0
  let star = -1
  let starAt = 0
  while (at < to) {
    const wanted = pattern[place]
    if (wanted === STAR) {
      star = place++
      starAt = at
    } else if (wanted === ONE || wanted === bytes[at]) {
      place++
      at++
    } else if (star >= 0) {
      place = star + 1
      at = ++starAt
    } else return false
  }
  while (pattern[place] === STAR) place++
  return place === pattern.length
}

function patternBytes(pattern: string): Uint8Array | undefined {
  const isPossible = nameBytes(pattern.replaceAll(/[*?]/g, '')) !== undefined
  return isPossible ? new Uint8Array(Buffer.from(pattern, 'latin1')) : undefined
}

function keysOf(run: readonly number[]): number[] {
  const keys: number[] = []
  for (const [i, first] of run.entries()) {
    const second = run[i + 1] ?? ANY
    const third = run[i + 2] ?? ANY
    if (first === ANY) continue
    // A pair says so of its characters as well, a triple does not say so of its pairs: it may share its key.
    const isAlone = second === ANY && (run[i - 1] ?? ANY) === ANY
    if (isAlone && !isEdge(first)) keys.push(Key.symbol(first))
    if (second !== ANY) keys.push(Key.pair(first, second))
    if (second !== ANY && third !== ANY) keys.push(Key.triple(first, second, third))
  }
  return keys
}

function planesOf(run: readonly number[]): number[] {
  const planes: number[] = []
  for (const [i, first] of run.entries()) {
    const second = run[i + 1] ?? ANY
    const third = run[i + 2] ?? ANY
    if (first === ANY) continue
    if (!isEdge(first)) planes.push(symbolPlane(first))
    if (second !== ANY) planes.push(pairPlane(first, second))
    if (third !== ANY) planes.push(gapPlane(first, third))
  }
  return planes
}

const isEdge = (symbol: number): boolean => symbol === BEGIN || symbol === END

/** Runs of characters (by number) that every name has which is so. */
function runsOf(kind: Kind, text: Uint8Array): number[][] {
  const symbols = Array.from(text, (code) => SYMBOL_OF[code] ?? NO_SYMBOL)
  switch (kind) {
    case 'search':
      return [symbols]
    case 'starts':
      return [[BEGIN, ...symbols]]
    case 'ends':
      return [[...symbols, END]]
    case 'pattern': {
      const runs: number[][] = [[BEGIN]]
      for (const code of text) {
        if (code === STAR) runs.push([])
        else runs.at(-1)?.push(code === ONE ? ANY : (SYMBOL_OF[code] ?? NO_SYMBOL))
      }
      runs.at(-1)?.push(END)
      return runs
    }
  }
}
