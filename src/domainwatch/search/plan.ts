import { goneBefore } from '../discarding.ts'
import { NAME_FILTERS, type Filters } from '../matches.ts'
import { BEGIN, END, PAIRS, SYMBOLS } from './alphabet.ts'
import {
  AllCandidates,
  BitCandidates,
  EitherCandidates,
  ListCandidates,
  type Candidates,
} from './candidates.ts'
import { Plane, set, type Grams } from './columns.ts'
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

/** Where in a segment there may be matches: undefined for anywhere, `nowhere` for no place at all. */
export function candidatesIn(segment: Segment, plan: Plan): Candidates | 'nowhere' | undefined {
  const parts: Candidates[] = []
  if (plan.agent !== undefined) {
    const wanted = agentsOf(segment, plan.agent)
    if (wanted.length === 0) return 'nowhere'
    parts.push(blocksOfAgents(segment, wanted))
  }
  const lists: ListCandidates[] = []
  for (const test of plan.tests) {
    if (test.runs === undefined && !test.wantsALabel) return 'nowhere'
    const { grams } = segment.columns
    if (grams === undefined) continue
    const inNames = test.runs === undefined ? undefined : test.runs.flatMap((run) => candidatesOf(run, grams))
    if (test.wantsALabel) {
      const inALabels = new BitCandidates(blocksOf(segment, segment.columns.aLabels.positions))
      if (inNames === undefined) parts.push(inALabels)
      else if (inNames.length > 0) parts.push(new EitherCandidates(new AllCandidates(inNames), inALabels))
      continue
    }
    for (const one of inNames ?? []) {
      if (one instanceof ListCandidates) lists.push(one)
      else parts.push(one)
    }
  }
  lists.sort((one, other) => one.size - other.size)
  const all = [...lists, ...parts]
  if (lists[0]?.size === 0) return 'nowhere'
  return all.length > 1 ? new AllCandidates(all) : all[0]
}

/** Blocks that have the run's characters, in threes where there are three. */
function candidatesOf(run: readonly number[], { symbols, pairs, triples }: Grams): Candidates[] {
  const [first = 0, second = 0] = run
  const words = symbols.length / SYMBOLS
  switch (run.length) {
    case 0:
      return []
    case 1:
      return first === BEGIN || first === END ? [] : [new BitCandidates(symbols, first * words, words)]
    case 2:
      return [new BitCandidates(pairs, (first * SYMBOLS + second) * words, words)]
    default: {
      const found: Candidates[] = []
      let triple = first * SYMBOLS + second
      for (const symbol of run.slice(2)) {
        triple = (triple % PAIRS) * SYMBOLS + symbol
        const from = triples.offsets[triple] ?? 0
        found.push(new ListCandidates(triples.blocks, from, triples.offsets[triple + 1] ?? 0))
        triple %= PAIRS
      }
      return found
    }
  }
}

/** Numbers of the agents whose names contain the text. */
export function agentsOf(segment: Segment, text: string): number[] {
  const found: number[] = []
  for (const [number, agent] of segment.foldedAgents.entries()) if (agent.includes(text)) found.push(number)
  return found
}

function blocksOfAgents({ words, columns }: Segment, agents: readonly number[]): Candidates {
  const { offsets, blocks } = columns.agentBlocks
  const [only] = agents
  if (only !== undefined && agents.length === 1) {
    return new ListCandidates(blocks, offsets[only] ?? 0, offsets[only + 1] ?? 0)
  }
  const bits = new Uint32Array(Math.ceil(words / 32))
  for (const agent of agents) {
    const end = offsets[agent + 1] ?? 0
    for (let at = offsets[agent] ?? 0; at < end; at++) {
      const block = blocks[at] ?? 0
      set(bits, block >>> 5, 1 << (block & 31))
    }
  }
  return new BitCandidates(bits)
}

function blocksOf({ words }: Segment, positions: Uint32Array): Uint32Array {
  const bits = new Uint32Array(Math.ceil(words / 32))
  for (const position of positions) set(bits, position >>> 10, 1 << ((position >>> 5) & 31))
  return bits
}
