import { Automaton, LetterFilter, Possible } from './candidate-filters.ts'
import { Containment, MIN_WORD_COST } from './containment.ts'
import { Distance, TOO_MUCH } from './distance.ts'
import { HYPHEN, MIN_EDIT_COST, octetsOf, pairKey, pairLetters } from './letters.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Many names in one array. */
export interface NameBlock {
  readonly count: number
  /** In Latin-1, without separators: name `i` is at `starts[i]` to `starts[i + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** Whether name `i` counts; by default all do. */
  readonly isLive?: (i: number) => boolean
}

/** Called with a name that resembles ours: it is at `start` to `end` of `names`. */
export type OnMatch = (names: Uint8Array, start: number, end: number, cost: number) => void

/** Maximum total cost of edits, by the length of the name: the last entry that is not longer applies. */
const MAX_COSTS: readonly (readonly [length: number, maxCost: number])[] = [
  [1, 10],
  [4, 16],
  [5, 20],
]
/** In names of up to this length an edit excludes homoglyphs: with both, any short name would resemble ours. */
const SHORT_LENGTH = 3

/** Ours may be a subdomain of another name: `banco` may serve `mi.banco`. */
const SUBDOMAIN_COST = 12
const SUBDOMAIN_LETTER_COST = 2
const MIN_PARENT_LENGTH = 3

/** How often a scan calls `shouldPause`: after this many names, or names that pass the first filter. */
const NAMES_PER_CHECK = 8_192
const CANDIDATES_PER_CHECK = 128

/** Decides which names resemble one, and what each costs. */
export class Matcher {
  readonly distance: Distance
  readonly containment: Containment
  readonly maxCost: number
  readonly #own: Uint8Array
  readonly #edits: number
  readonly #filter: LetterFilter
  readonly #automaton: Automaton

  constructor(name: string, vocabulary: Vocabulary) {
    const own = octetsOf(name)
    this.#own = own
    this.distance = new Distance(own)
    this.containment = new Containment(own, vocabulary)
    this.maxCost = MAX_COSTS.findLast(([length]) => length <= own.length)?.[1] ?? 0
    this.#edits = Math.floor(this.maxCost / MIN_EDIT_COST)
    this.#filter = new LetterFilter(own, this.#edits, this.containment.edits)
    this.#automaton = new Automaton(own)
  }

  /**
   * Reports the names of a block that resemble ours, from index `from` on.
   * @param shouldPause called now and then; true ends this call
   * @returns the index to continue at; undefined at the end of the block
   */
  scan(block: NameBlock, from: number, onMatch: OnMatch, shouldPause: () => boolean): number | undefined {
    const { count, names, starts, isLive } = block
    let candidates = 0
    for (let i = from, checked = from; i < count; i++) {
      const start = starts[i] ?? 0
      const end = starts[i + 1] ?? 0
      const possible = this.#filter.test(names, start, end)
      if (possible !== 0) {
        candidates++
        const cost = this.#costOf(names, start, end, possible)
        if (cost < TOO_MUCH && isLive?.(i) !== false) onMatch(names, start, end, cost)
      }
      if (candidates < CANDIDATES_PER_CHECK && i - checked < NAMES_PER_CHECK) continue
      candidates = 0
      checked = i
      if (shouldPause()) return i + 1 < count ? i + 1 : undefined
    }
    return undefined
  }

  /** Returns whether `other` resembles our name. The name itself does not. */
  resembles(other: string): boolean {
    const octets = octetsOf(other)
    const possible = this.#filter.test(octets, 0, octets.length)
    return possible !== 0 && this.#costOf(octets, 0, octets.length, possible) < TOO_MUCH
  }

  /** Returns the cost by the definition, without filters; `TOO_MUCH` if the name does not resemble ours. */
  cost(octets: Uint8Array, start: number, end: number): number {
    const edited = this.editedCost(octets, start, end)
    if (edited === 0) return TOO_MUCH
    const { cost } = this.containment.find(octets, start, end)
    return Math.min(edited, cost, this.parentCost(octets, start, end))
  }

  #costOf(octets: Uint8Array, start: number, end: number, possible: number): number {
    let cost = TOO_MUCH
    if (
      (possible & Possible.edited) !== 0 &&
      this.#automaton.accepts(octets, start, end, this.#edits, false)
    ) {
      cost = this.editedCost(octets, start, end)
      // The name itself does not resemble itself.
      if (cost === 0) return TOO_MUCH
    }
    if (
      (possible & Possible.inside) !== 0 &&
      cost > MIN_WORD_COST &&
      this.#automaton.accepts(octets, start, end, this.containment.edits ?? 0, true)
    ) {
      cost = Math.min(cost, this.containment.find(octets, start, end).cost)
    }
    return (possible & Possible.parent) === 0 ? cost : Math.min(cost, this.parentCost(octets, start, end))
  }

  /** Returns the cost of the edits that make this name from ours; `TOO_MUCH` if they are too many. */
  editedCost(octets: Uint8Array, start: number, end: number): number {
    const cost = this.distance.compare(octets, start, end, this.maxCost)
    const isShortEdit = cost >= MIN_EDIT_COST && this.#own.length <= SHORT_LENGTH
    return isShortEdit && !isSingleEdit(this.#own, octets.subarray(start, end)) ? TOO_MUCH : cost
  }

  /** Returns the cost of a name that ours ends in, so that a dot would make ours its subdomain. */
  parentCost(octets: Uint8Array, start: number, end: number): number {
    const own = this.#own
    const before = own.length - (end - start)
    if (before < 1 || end - start < MIN_PARENT_LENGTH || own[before - 1] === HYPHEN) return TOO_MUCH
    for (let i = before; i < own.length; i++) if (own[i] !== octets[start + i - before]) return TOO_MUCH
    return SUBDOMAIN_COST + SUBDOMAIN_LETTER_COST * before
  }
}

/** Returns whether one letter is added, removed or replaced, or two are swapped or become one that looks like them. */
function isSingleEdit(own: Uint8Array, other: Uint8Array): boolean {
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

const isPair = ([first = 0, second = 0]: Uint8Array) => pairLetters[pairKey(first, second)] !== 0

export interface Match {
  readonly name: string
  readonly cost: number
}

/** Matches kept beyond those wanted before the worst are dropped. */
const SLACK = 2_048

/** Keeps the `limit` cheapest matches, ties by name: the same ones in whatever order they are added. */
export class BestMatches {
  readonly #limit: number
  #matches: Match[] = []
  #maxCost = Infinity
  #isCut = false

  constructor(limit: number) {
    this.#limit = limit
  }

  readonly add: OnMatch = (names, start, end, cost) => {
    if (cost > this.#maxCost) {
      this.#isCut = true
      return
    }
    const name = Buffer.from(names.buffer, names.byteOffset + start, end - start).toString('latin1')
    this.#matches.push({ name, cost })
    if (this.#matches.length >= this.#limit + SLACK) this.#cut()
  }

  /** Returns the matches, best first, and whether there were others. */
  result(): { readonly matches: readonly Match[]; readonly isCut: boolean } {
    this.#cut()
    return { matches: this.#matches, isCut: this.#isCut }
  }

  #cut(): void {
    this.#matches.sort((a, b) => a.cost - b.cost || (a.name < b.name ? -1 : 1))
    if (this.#matches.length <= this.#limit) return
    this.#isCut = true
    this.#matches.length = this.#limit
    this.#maxCost = this.#matches.at(-1)?.cost ?? Infinity
  }
}
