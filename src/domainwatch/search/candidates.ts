import { Key, wordsOfKey } from './blocks.ts'
import { BLOCK, Plane, set, type Columns } from './columns.ts'
import type { Plan } from './plan.ts'
import type { Segment } from './segment.ts'

/** Bits of blocks, from a place on. */
interface Row {
  readonly bits: Uint32Array
  readonly from: number
}

/**
 * Words that are worked out at once: row after row lies in memory as it is read. Common texts, which find all they want in
 * the first of them, pay next to nothing for the others.
 */
export const CHUNK = 128

/** Where in a segment there may be matches: a bit a block, told for 32 blocks as they are asked for. */
export class Candidates {
  readonly #rows: readonly Row[]
  readonly #words: Uint32Array
  /** Which words of all these are. */
  #chunk = -1

  /** @param words memory for `CHUNK` of them, its own until the last is asked for */
  constructor(rows: readonly Row[], words: Uint32Array) {
    this.#rows = rows
    this.#words = words
  }

  /** Of the 32 blocks of this number. */
  of(word: number): number {
    const chunk = Math.floor(word / CHUNK)
    if (chunk !== this.#chunk) {
      this.#chunk = chunk
      this.#words.fill(0xffff_ffff)
      for (const { bits, from } of this.#rows) keep(this.#words, bits, from + chunk * CHUNK)
    }
    return this.#words[word % CHUNK] ?? 0
  }
}

/** Behind the last word of a row stands another one's, or nothing: nobody asks for those. */
function keep(words: Uint32Array, bits: Uint32Array, from: number): void {
  for (let i = 0; i < CHUNK; i++) words[i] = (words[i] ?? 0) & (bits[from + i] ?? 0)
}

/** What blocks with matches have; undefined for no place at all. Rows that leave out next to nothing are not worth the reading. */
export function rowsIn(segment: Segment, plan: Plan): readonly Row[] | undefined {
  const { columns } = segment
  const words = wordsOfKey(columns.count)
  const rows: Row[] = []
  if (plan.agent !== undefined) {
    const wanted = agentsOf(segment, plan.agent)
    if (wanted.length === 0) return undefined
    const found = blocksOfAgents(segment, wanted, words)
    if (found !== undefined) rows.push(found)
  }
  const keys: number[] = []
  for (const plane of plan.set) keys.push(Key.mark(plane, true))
  for (const plane of plan.unset) keys.push(Key.mark(plane, false))
  for (const test of plan.tests) {
    if (test.wantsALabel) {
      const row = rowOfEither(test.keys, columns, words)
      if (row === undefined) return undefined
      rows.push(row)
    } else if (test.keys === undefined) return undefined
    else keys.push(...test.keys)
  }
  const ofKeys = rowsOf(keys, columns, words)
  const ofLengths = rowsOfLengths(plan, columns, words)
  return ofKeys === undefined || ofLengths === undefined ? undefined : [...rows, ...ofKeys, ...ofLengths]
}

/** A row is left out where this part of all blocks has its key, or more. */
const NEARLY_ALL = 0.95

const nearlyAll = ({ count }: Columns): number => (NEARLY_ALL * count) / BLOCK

/** The rows that help; undefined when no block has one of the keys. */
function rowsOf(keys: readonly number[], columns: Columns, words: number): Row[] | undefined {
  const { bits, counts } = columns.blocks
  const rows: Row[] = []
  for (const key of keys) {
    const has = counts[key] ?? 0
    if (has === 0) return undefined
    if (has < nearlyAll(columns)) rows.push({ bits, from: key * words })
  }
  return rows
}

/** Where a name has all of the keys, or letters beyond ASCII, so that its A-label may be what is looked for. */
function rowOfEither(keys: readonly number[] | undefined, columns: Columns, words: number): Row | undefined {
  const { bits, counts } = columns.blocks
  const idn = Key.mark(Plane.idn, true)
  const ofIdn = { bits, from: idn * words }
  const inNames = keys && rowsOf(keys, columns, words)
  if (inNames === undefined) return counts[idn] === 0 ? undefined : ofIdn
  const both = new Candidates(inNames, new Uint32Array(CHUNK))
  const result = bits.slice(ofIdn.from, ofIdn.from + words)
  for (let word = 0; word < words; word++) set(result, word, both.of(word))
  return { bits: result, from: 0 }
}

/** None where most blocks have a record of these lengths, undefined where none has. */
function rowsOfLengths({ minLength, maxLength }: Plan, columns: Columns, words: number): Row[] | undefined {
  const { bits, counts } = columns.blocks
  const keys: number[] = []
  let most = 0
  for (let length = minLength; length <= maxLength; length++) {
    const has = counts[Key.length(length)] ?? 0
    most = Math.max(most, has)
    if (has > 0) keys.push(Key.length(length))
  }
  const [only] = keys
  if (only === undefined) return undefined
  if (most >= nearlyAll(columns)) return []
  if (keys.length === 1) return [{ bits, from: only * words }]
  const either = new Uint32Array(words)
  for (const key of keys) {
    const from = key * words
    for (let word = 0; word < words; word++) set(either, word, bits[from + word] ?? 0)
  }
  return [{ bits: either, from: 0 }]
}

/** Numbers of the agents whose names contain the text. */
export function agentsOf(segment: Segment, text: string): number[] {
  const found: number[] = []
  for (const [number, agent] of segment.foldedAgents.entries()) if (agent.includes(text)) found.push(number)
  return found
}

/** Undefined where they have so many blocks that naming them is no help. */
function blocksOfAgents({ columns }: Segment, agents: readonly number[], words: number): Row | undefined {
  const { offsets, blocks } = columns.agentBlocks
  const all = agents.reduce((sum, agent) => sum + (offsets[agent + 1] ?? 0) - (offsets[agent] ?? 0), 0)
  if (all > MANY_BLOCKS * words) return undefined
  const bits = new Uint32Array(words)
  for (const agent of agents) {
    const end = offsets[agent + 1] ?? 0
    for (let at = offsets[agent] ?? 0; at < end; at++) {
      const block = blocks[at] ?? 0
      set(bits, block >>> 5, 1 << (block & 31))
    }
  }
  return { bits, from: 0 }
}

/** In each word of 32 blocks. */
const MANY_BLOCKS = 24
