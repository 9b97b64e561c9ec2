import { goneBefore } from '../discarding.ts'
import { NAME_FILTERS, type Filters } from '../matches.ts'
import { Key, wordsOfKey } from './blocks.ts'
import { BLOCK, Plane, set, type Columns } from './columns.ts'
import { momentOf } from './moment.ts'
import type { Segment } from './segment.ts'
import { TextTest } from './text-test.ts'

/** What a list asks of a record, taken apart for columns: the same that `matches` says of one. */
export interface Plan {
  /** Planes whose bit must be, or must not be, set. */
  readonly set: readonly number[]
  readonly unset: readonly number[]
  readonly minLength: number
  readonly maxLength: number
  /** Bounds of `date_reg`, as moments. */
  readonly from: number
  readonly to: number
  readonly agent: string | undefined
  readonly tests: readonly TextTest[]
  /** What was marked at this moment or before is gone. */
  readonly goneBefore: number
}

export const MAX_LENGTH = 63

export function planOf(filters: Filters, now: number, status?: number): Plan {
  const { length, minLength, maxLength, from, to, hyphen, digits, idn } = filters
  const planes: [plane: number, wanted: number | undefined][] = [
    [Plane.status, filters.status],
    [Plane.status, status],
    [Plane.reserved, filters.reserve ? 1 : undefined],
    [Plane.revision, filters.rev ? 1 : undefined],
    [Plane.discarded, filters.dis ? 1 : undefined],
    [Plane.hyphen, hyphen],
    [Plane.digits, digits],
    [Plane.idn, idn],
  ]
  const tests = NAME_FILTERS.flatMap((kind) => {
    const wanted = filters[kind]
    return wanted === undefined ? [] : [new TextTest(kind, wanted)]
  })
  const shortest = tests.map((test) => test.minLength)
  const longest = tests.map((test) => test.maxLength)
  return {
    set: planes.filter(([, wanted]) => wanted === 1).map(([plane]) => plane),
    unset: planes.filter(([, wanted]) => wanted === 0).map(([plane]) => plane),
    minLength: Math.max(1, length ?? 1, minLength ?? 1, ...shortest),
    maxLength: Math.min(MAX_LENGTH, length ?? MAX_LENGTH, maxLength ?? MAX_LENGTH, ...longest),
    from: from === undefined ? -Infinity : momentOf(from),
    to: to === undefined ? Infinity : momentOf(to),
    agent: filters.agent,
    tests,
    goneBefore: goneBefore(now),
  }
}

/**
 * Where in a segment there may be matches: a bit a block; undefined for anywhere, `nowhere` for no place at all. Rows that
 * leave out next to nothing are not worth the reading.
 */
export function candidatesIn(segment: Segment, plan: Plan): Uint32Array | 'nowhere' | undefined {
  const { columns } = segment
  const words = wordsOfKey(columns.count)
  const rows: Row[] = []
  if (plan.agent !== undefined) {
    const wanted = agentsOf(segment, plan.agent)
    if (wanted.length === 0) return 'nowhere'
    const found = blocksOfAgents(segment, wanted, words)
    if (found !== undefined) rows.push({ bits: found, from: 0 })
  }
  const keys = new Set<number>()
  for (const plane of plan.set) keys.add(Key.mark(plane, true))
  for (const plane of plan.unset) keys.add(Key.mark(plane, false))
  for (const test of plan.tests) {
    if (test.wantsALabel) {
      const inALabels = blocksOf(columns.aLabels.positions, words)
      const inRows = test.keys && rowsOf(test.keys, columns, words)
      const inNames = inRows && allOf(inRows, words)
      rows.push({ bits: inNames === undefined ? inALabels : eitherOf([inALabels, inNames]), from: 0 })
    } else if (test.keys === undefined) return 'nowhere'
    else for (const key of test.keys) keys.add(key)
  }
  const ofKeys = rowsOf(keys, columns, words)
  const ofLengths = blocksOfLengths(plan, columns, words)
  if (ofKeys === undefined || ofLengths === 'nowhere') return 'nowhere'
  if (ofLengths !== undefined) rows.push({ bits: ofLengths, from: 0 })
  rows.push(...ofKeys)
  return rows.length === 0 ? undefined : allOf(rows, words)
}

/** Bits of blocks, from a place on. */
interface Row {
  readonly bits: Uint32Array
  readonly from: number
}

/** A row is left out where this part of all blocks has its key, or more. */
const NEARLY_ALL = 0.95

/** The rows that help; undefined when no block has one of the keys. */
function rowsOf(keys: Iterable<number>, { count, blocks }: Columns, words: number): Row[] | undefined {
  const rows: Row[] = []
  for (const key of keys) {
    const has = blocks.counts[key] ?? 0
    if (has === 0) return undefined
    if (has < (NEARLY_ALL * count) / BLOCK) rows.push({ bits: blocks.bits, from: key * words })
  }
  return rows
}

/** Undefined where most blocks have a record of these lengths. */
function blocksOfLengths(
  { minLength, maxLength }: Plan,
  { count, blocks }: Columns,
  words: number,
): Uint32Array | 'nowhere' | undefined {
  const keys: number[] = []
  let most = 0
  for (let length = minLength; length <= maxLength; length++) {
    const has = blocks.counts[Key.length(length)] ?? 0
    most = Math.max(most, has)
    if (has > 0) keys.push(Key.length(length))
  }
  if (keys.length === 0) return 'nowhere'
  if (most >= (NEARLY_ALL * count) / BLOCK) return undefined
  const bits = new Uint32Array(words)
  for (const key of keys) addBits(bits, blocks.bits.subarray(key * words, (key + 1) * words))
  return bits
}

function allOf(rows: readonly Row[], words: number): Uint32Array {
  const result = new Uint32Array(words).fill(0xffff_ffff)
  for (const { bits, from } of rows) {
    for (let word = 0; word < words; word++) result[word] = (result[word] ?? 0) & (bits[from + word] ?? 0)
  }
  return result
}

function eitherOf([first, second]: readonly [Uint32Array, Uint32Array]): Uint32Array {
  const result = first.slice()
  addBits(result, second)
  return result
}

function addBits(to: Uint32Array, bits: Uint32Array): void {
  for (let word = 0; word < to.length; word++) to[word] = (to[word] ?? 0) | (bits[word] ?? 0)
}

/** Numbers of the agents whose names contain the text. */
export function agentsOf(segment: Segment, text: string): number[] {
  const found: number[] = []
  for (const [number, agent] of segment.foldedAgents.entries()) if (agent.includes(text)) found.push(number)
  return found
}

/** Undefined where they have so many blocks that naming them is no help. */
function blocksOfAgents(
  { columns }: Segment,
  agents: readonly number[],
  words: number,
): Uint32Array | undefined {
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
  return bits
}

/** In each word of 32 blocks. */
const MANY_BLOCKS = 24

function blocksOf(positions: Uint32Array, words: number): Uint32Array {
  const bits = new Uint32Array(words)
  for (const position of positions) set(bits, position >>> 10, 1 << ((position >>> 5) & 31))
  return bits
}
