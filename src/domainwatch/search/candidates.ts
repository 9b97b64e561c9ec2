import { Key, wordsOfKey } from './blocks.ts'
import { BLOCK, Plane, set, type Columns } from './columns.ts'
import type { Plan } from './plan.ts'
import type { Segment } from './segment.ts'

/** Bits of blocks, from a place on. */
interface Row {
  readonly bits: Uint32Array
  readonly from: number
  /** How many blocks it leaves, or may leave. */
  readonly has: number
}

const NONE: readonly Row[] = []

/** Where in a segment there may be matches: a bit a block, told for 32 blocks as they are asked for. */
export class Candidates {
  readonly #rows: readonly Row[]

  /** Those that leave the fewest blocks are asked first. */
  constructor(rows: readonly Row[]) {
    this.#rows = rows.length === 0 ? NONE : rows.toSorted((one, other) => one.has - other.has)
  }

  /** Of the 32 blocks of this number. */
  of(word: number): number {
    const rows = this.#rows
    let bits = -1
    for (let i = 0; i < rows.length && bits !== 0; i++) {
      const row = rows[i]
      if (row !== undefined) bits &= row.bits[row.from + word] ?? 0
    }
    return bits
  }
}

/** Undefined for no place at all. Rows that leave out next to nothing are not worth the reading. */
export function candidatesIn(segment: Segment, plan: Plan): Candidates | undefined {
  const { columns } = segment
  const words = wordsOfKey(columns.count)
  const rows: Row[] = []
  if (plan.agent !== undefined) {
    const wanted = agentsOf(segment, plan.agent)
    if (wanted.length === 0) return undefined
    const found = blocksOfAgents(segment, wanted, words)
    if (found !== undefined) rows.push(found)
  }
  const keys = new Set<number>()
  for (const plane of plan.set) keys.add(Key.mark(plane, true))
  for (const plane of plan.unset) keys.add(Key.mark(plane, false))
  for (const test of plan.tests) {
    if (test.wantsALabel) {
      const row = rowOfEither(test.keys, columns, words)
      if (row === undefined) return undefined
      rows.push(row)
    } else if (test.keys === undefined) return undefined
    else for (const key of test.keys) keys.add(key)
  }
  const ofKeys = rowsOf(keys, columns, words)
  const ofLengths = rowsOfLengths(plan, columns, words)
  return ofKeys === undefined || ofLengths === undefined
    ? undefined
    : new Candidates([...rows, ...ofKeys, ...ofLengths])
}

/** A row is left out where this part of all blocks has its key, or more. */
const NEARLY_ALL = 0.95

const nearlyAll = ({ count }: Columns): number => (NEARLY_ALL * count) / BLOCK

/** The rows that help; undefined when no block has one of the keys. */
function rowsOf(keys: Iterable<number>, columns: Columns, words: number): Row[] | undefined {
  const { bits, counts } = columns.blocks
  const rows: Row[] = []
  for (const key of keys) {
    const has = counts[key] ?? 0
    if (has === 0) return undefined
    if (has < nearlyAll(columns)) rows.push({ bits, from: key * words, has })
  }
  return rows
}

/** Where a name has all of the keys, or letters beyond ASCII, so that its A-label may be what is looked for. */
function rowOfEither(keys: readonly number[] | undefined, columns: Columns, words: number): Row | undefined {
  const { bits, counts } = columns.blocks
  const idn = Key.mark(Plane.idn, true)
  const ofIdn = { bits, from: idn * words, has: counts[idn] ?? 0 }
  const inNames = keys && rowsOf(keys, columns, words)
  if (inNames === undefined) return ofIdn.has === 0 ? undefined : ofIdn
  const both = new Candidates(inNames)
  const result = bits.slice(ofIdn.from, ofIdn.from + words)
  for (let word = 0; word < words; word++) set(result, word, both.of(word))
  return { bits: result, from: 0, has: columns.count / BLOCK }
}

/** None where most blocks have a record of these lengths, undefined where none has. */
function rowsOfLengths({ minLength, maxLength }: Plan, columns: Columns, words: number): Row[] | undefined {
  const { bits, counts } = columns.blocks
  const keys: number[] = []
  let most = 0
  let all = 0
  for (let length = minLength; length <= maxLength; length++) {
    const has = counts[Key.length(length)] ?? 0
    most = Math.max(most, has)
    all += has
    if (has > 0) keys.push(Key.length(length))
  }
  const [only] = keys
  if (only === undefined) return undefined
  if (most >= nearlyAll(columns)) return []
  if (keys.length === 1) return [{ bits, from: only * words, has: most }]
  const either = new Uint32Array(words)
  for (const key of keys) {
    const from = key * words
    for (let word = 0; word < words; word++) set(either, word, bits[from + word] ?? 0)
  }
  return [{ bits: either, from: 0, has: all }]
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
  return { bits, from: 0, has: all }
}

/** In each word of 32 blocks. */
const MANY_BLOCKS = 24
