import { goneBefore } from '../discarding.ts'
import { NAME_FILTERS, type Filters } from '../matches.ts'
import { Key, wordsOfKey } from './blocks.ts'
import { Plane, set } from './columns.ts'
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
  return {
    set: planes.filter(([, wanted]) => wanted === 1).map(([plane]) => plane),
    unset: planes.filter(([, wanted]) => wanted === 0).map(([plane]) => plane),
    minLength: Math.max(1, length ?? 1, minLength ?? 1),
    maxLength: Math.min(MAX_LENGTH, length ?? MAX_LENGTH, maxLength ?? MAX_LENGTH),
    from: from === undefined ? -Infinity : momentOf(from),
    to: to === undefined ? Infinity : momentOf(to),
    agent: filters.agent,
    tests: NAME_FILTERS.flatMap((kind) => {
      const wanted = filters[kind]
      return wanted === undefined ? [] : [new TextTest(kind, wanted)]
    }),
    goneBefore: goneBefore(now),
  }
}

/** Where in a segment there may be matches: a bit a block; undefined for anywhere, `nowhere` for no place at all. */
export function candidatesIn(segment: Segment, plan: Plan): Uint32Array | 'nowhere' | undefined {
  const words = wordsOfKey(segment.columns.count)
  const rows: Row[] = []
  const { bits } = segment.columns.blocks
  const row = (key: number) => rows.push({ bits, from: key * words })
  for (const plane of plan.set) row(Key.mark(plane, true))
  for (const plane of plan.unset) row(Key.mark(plane, false))
  if (plan.minLength > 1 || plan.maxLength < MAX_LENGTH) {
    const lengths: Row[] = []
    for (let length = plan.minLength; length <= plan.maxLength; length++) {
      lengths.push({ bits, from: Key.length(length) * words })
    }
    rows.push({ bits: eitherOf(lengths, words), from: 0 })
  }
  if (plan.agent !== undefined) {
    const wanted = agentsOf(segment, plan.agent)
    if (wanted.length === 0) return 'nowhere'
    const found = blocksOfAgents(segment, wanted, words)
    if (found !== undefined) rows.push({ bits: found, from: 0 })
  }
  for (const test of plan.tests) {
    const keys = test.keys
    if (keys === undefined && !test.wantsALabel) return 'nowhere'
    if (!test.wantsALabel) keys?.forEach(row)
    else {
      const inALabels = blocksOf(segment.columns.aLabels.positions, words)
      const inNames =
        keys === undefined
          ? undefined
          : allOf(
              keys.map((key) => ({ bits, from: key * words })),
              words,
            )
      const both = [inALabels, ...(inNames === undefined ? [] : [inNames])].map((each) => ({
        bits: each,
        from: 0,
      }))
      rows.push({ bits: eitherOf(both, words), from: 0 })
    }
  }
  return rows.length === 0 ? undefined : allOf(rows, words)
}

/** Bits of blocks, from a place on. */
interface Row {
  readonly bits: Uint32Array
  readonly from: number
}

function allOf(rows: readonly Row[], words: number): Uint32Array {
  const result = new Uint32Array(words).fill(0xffff_ffff)
  for (const { bits, from } of rows) {
    for (let word = 0; word < words; word++) result[word] = (result[word] ?? 0) & (bits[from + word] ?? 0)
  }
  return result
}

function eitherOf(rows: readonly Row[], words: number): Uint32Array {
  const result = new Uint32Array(words)
  for (const { bits, from } of rows) {
    for (let word = 0; word < words; word++) set(result, word, bits[from + word] ?? 0)
  }
  return result
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
