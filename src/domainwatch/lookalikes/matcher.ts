import { Alignment, octetsOf, pairKey, pairOnes, TOO_MUCH } from './alignment.ts'
import { Automaton } from './automaton.ts'
import { GROUP, type Digest } from './digest.ts'
import { changesInside, Containment, MIN_WORD_COST } from './inside.ts'
import { HYPHEN, LEAST_CHANGE } from './letters.ts'
import { Prospect, Prospects } from './prospects.ts'
import { WORDS } from './signature.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface NameBlock {
  readonly count: number
  /** In Latin-1, one behind the other; the one at `p` from `starts[p]` to `starts[p + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  readonly digest: Digest
  /** Whether the one at `p` counts; all of them where this is not given. */
  readonly isLive?: (position: number) => boolean
}

/** What changes may cost in all, by the length of the name: the last entry that is not longer counts. */
const MOST: readonly (readonly [length: number, most: number])[] = [
  [1, 10],
  [4, 16],
  [5, 20],
]
/** Up to this length a slip counts only without look-alikes besides: both together make any name as short. */
const SHORT = 3

/** What ours is a subdomain's name below: `banco` may be set up to show `mi.banco`. */
const SUBDOMAIN = 12
const SUBDOMAIN_LETTER = 2
const LEAST_PARENT = 3

/** Names looked at closely, and groups whose words are, between two looks at the clock. */
const CLOSE_LOOKS = 128
const GROUPS = 128
/** The last group that is looked at may bring a whole group too many. */
const MOST_PICKED = CLOSE_LOOKS + GROUP

/**
 * Of names that are looked at closely: what they may be, their numbers, where their letters are, and the first of those. One
 * look is over before the next one begins.
 */
const near = {
  prospects: new Uint8Array(MOST_PICKED),
  indexes: new Uint32Array(MOST_PICKED),
  starts: new Uint32Array(MOST_PICKED),
  ends: new Uint32Array(MOST_PICKED),
  firsts: new Uint8Array(MOST_PICKED),
}

/** Told of the name at `start` to `end` of the names. */
export type Found = (names: Uint8Array, start: number, end: number, cost: number) => void

/** Decides which names resemble one. */
export class Matcher {
  readonly alignment: Alignment
  readonly containment: Containment
  /** What changes may cost in all. */
  readonly most: number
  readonly #octets: Uint8Array
  readonly #prospects: Prospects
  readonly #automaton: Automaton
  readonly #changesInside: number
  readonly #picked = new Uint32Array(MOST_PICKED)

  constructor(name: string, vocabulary: Vocabulary) {
    const octets = octetsOf(name)
    this.#octets = octets
    this.alignment = new Alignment(octets)
    this.containment = new Containment(octets, vocabulary)
    this.most = MOST.findLast(([length]) => length <= octets.length)?.[1] ?? 0
    const changes = Math.floor(this.most / LEAST_CHANGE)
    const inside = changesInside(octets.length)
    this.#changesInside = inside ?? 0
    this.#prospects = new Prospects(octets, changes, inside)
    this.#automaton = new Automaton(octets, changes)
  }

  /**
   * Looks through names group by group, from one group on.
   * @param found is told of each that resembles ours
   * @param isOver asked now and then: whether to stop here
   * @returns the first group not looked at; undefined when there is none
   */
  sweep(block: NameBlock, from: number, found: Found, isOver: () => boolean): number | undefined {
    const { count, digest } = block
    const groups = Math.ceil(count / GROUP)
    let picks = 0
    let looked = 0
    for (let group = from; group < groups; group++) {
      picks = this.#prospects.pick(digest, group, count, this.#picked, picks)
      if (picks < CLOSE_LOOKS && ++looked < GROUPS) continue
      this.#lookAt(block, picks, found)
      picks = 0
      looked = 0
      if (isOver()) return group + 1 < groups ? group + 1 : undefined
    }
    this.#lookAt(block, picks, found)
    return undefined
  }

  #lookAt(block: NameBlock, picks: number, found: Found): void {
    const { names, isLive } = block
    const count = this.#bringNear(block, picks)
    for (let i = 0; i < count; i++) {
      const [start, end] = [near.starts[i] ?? 0, near.ends[i] ?? 0]
      const cost = this.#cost(names, start, end, near.prospects[i] ?? 0)
      if (cost < TOO_MUCH && isLive?.(near.indexes[i] ?? 0) !== false) found(names, start, end, cost)
    }
  }

  /**
   * Has the letters of those picked that may resemble ours brought near: names that are alike lie far from each other, and in
   * short loops many of them are fetched from memory at once.
   * @returns how many they are
   */
  #bringNear({ names, starts, digest }: NameBlock, picks: number): number {
    let count = 0
    for (let pick = 0; pick < picks; pick++) {
      const place = this.#picked[pick] ?? 0
      const prospect = this.#prospects.of(digest.words, place * WORDS)
      if (prospect === 0) continue
      near.prospects[count] = prospect
      near.indexes[count++] = digest.order[place] ?? 0
    }
    for (let i = 0; i < count; i++) {
      const index = near.indexes[i] ?? 0
      near.starts[i] = starts[index] ?? 0
      near.ends[i] = starts[index + 1] ?? 0
    }
    for (let i = 0; i < count; i++) near.firsts[i] = names[near.starts[i] ?? 0] ?? 0
    return count
  }

  /** Whether the name, whose words these are, resembles ours. */
  resembles(octets: Uint8Array, words: Uint32Array): boolean {
    const prospect = this.#prospects.of(words, 0)
    return prospect !== 0 && this.#cost(octets, 0, octets.length, prospect) < TOO_MUCH
  }

  /** What it costs to make this name from ours, nothing left out; `TOO_MUCH` where it does not resemble it. */
  cost(octets: Uint8Array, start: number, end: number): number {
    const changed = this.changedCost(octets, start, end)
    if (changed === 0) return TOO_MUCH
    const { cost } = this.containment.find(octets, start, end)
    return Math.min(changed, cost, this.parentCost(octets, start, end))
  }

  /** The same where only what it may turn out to be is looked at. */
  #cost(octets: Uint8Array, start: number, end: number, prospect: number): number {
    let cost = TOO_MUCH
    if ((prospect & Prospect.changed) !== 0 && this.#automaton.mayBecome(octets, start, end)) {
      cost = this.changedCost(octets, start, end)
      // The name itself resembles nothing.
      if (cost === 0) return TOO_MUCH
    }
    if (
      (prospect & Prospect.longer) !== 0 &&
      cost > MIN_WORD_COST &&
      this.#automaton.mayBeInside(octets, start, end, this.#changesInside)
    ) {
      cost = Math.min(cost, this.containment.find(octets, start, end).cost)
    }
    return (prospect & Prospect.ending) === 0 ? cost : Math.min(cost, this.parentCost(octets, start, end))
  }

  /** What the changes cost that make this name from ours; `TOO_MUCH` if they are too many. */
  changedCost(octets: Uint8Array, start: number, end: number): number {
    const cost = this.alignment.cost(octets, start, end, this.most)
    const isSlip = cost >= LEAST_CHANGE && this.#octets.length <= SHORT
    return isSlip && !isOneSlip(this.#octets, octets.subarray(start, end)) ? TOO_MUCH : cost
  }

  /** What it costs that ours would be below that name, were there a dot in it. */
  parentCost(octets: Uint8Array, start: number, end: number): number {
    const own = this.#octets
    const before = own.length - (end - start)
    if (before < 1 || end - start < LEAST_PARENT || own[before - 1] === HYPHEN) return TOO_MUCH
    for (let i = before; i < own.length; i++) if (own[i] !== octets[start + i - before]) return TOO_MUCH
    return SUBDOMAIN + SUBDOMAIN_LETTER * before
  }
}

/** Whether one of the names becomes the other by one letter more, less or other, or by two that are swapped or become one. */
function isOneSlip(own: Uint8Array, other: Uint8Array): boolean {
  let from = 0
  while (from < own.length && from < other.length && own[from] === other[from]) from++
  let back = 0
  const most = Math.min(own.length, other.length) - from
  while (back < most && own.at(-1 - back) === other.at(-1 - back)) back++
  const [left, right] = [own.subarray(from, own.length - back), other.subarray(from, other.length - back)]
  if (left.length === 2 && right.length === 2) return left[0] === right[1] && left[1] === right[0]
  const [fewer, more] = [Math.min(left.length, right.length), Math.max(left.length, right.length)]
  return more === 1 || (fewer === 1 && more === 2 && isPair(left.length === 2 ? left : right))
}

/** Whether two letters may be taken for one. */
const isPair = ([first = 0, second = 0]: Uint8Array) => pairOnes[pairKey(first, second)] !== 0
