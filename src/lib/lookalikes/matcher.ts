import { Automaton } from './automaton.ts'
import { Containment, editsInside, MIN_WORD_COST } from './containment.ts'
import { Distance, TOO_MUCH } from './distance.ts'
import { HYPHEN, LETTER_S, MIN_EDIT_COST, toOctets, pairKey, pairLetters } from './letters.ts'
import {
  ALL_CANDIDATES,
  LetterFilter,
  lettersIn,
  MIN_PARENT_LENGTH,
  type Candidates,
  type NamesWith,
} from './letter-filter.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Many names in one array. */
export interface NameBlock {
  readonly count: number
  /** In Latin-1, without separators: name `i` is at `starts[i]` to `starts[i + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** Whether name `i` counts; by default all do. */
  readonly isLive?: (i: number) => boolean
  /** Bit `i % 32` of word `i / 32` is name `i`. Without this, no name is excluded by its letters. */
  readonly namesWith?: NamesWith | undefined
}

/** Called with a name that resembles ours, by its index in the block. */
type OnMatch<Block> = (block: Block, i: number, cost: number) => void

/** Names tested together: as many as a word has bits. */
const WORD = 32

/** Maximum total cost of edits, by the length of the name: the last entry that is not longer applies. */
const MAX_COSTS: readonly (readonly [length: number, maxCost: number])[] = [
  [1, 10],
  [4, 14],
  [5, 20],
]
/**
 * In names of up to this length an edit excludes homoglyphs: with both, any short name would resemble ours. It costs several times as
 * much unless all our letters stay, because it mostly makes another acronym.
 */
const SHORT_LENGTH = 3
const SHORT_EDIT_FACTOR = 3

/** Edits and words up to this cost resemble ours unless the caller says otherwise. */
const DEFAULT_MAX_DISTANCE = 20
/** The largest maximum that makes a difference, except for subdomains. */
export const MAX_DISTANCE = 40

/** Ours may be a subdomain of another name: `banco` may serve `mi.banco`. */
const SUBDOMAIN_COST = 12
const SUBDOMAIN_LETTER_COST = 2

/**
 * How often a scan calls `shouldPause`: after this many names, names that may resemble ours by their letters, or rows of the
 * distance, of which one name can take thousands.
 */
const NAMES_PER_CHECK = 8_192
const CANDIDATES_PER_CHECK = 128
const ROWS_PER_CHECK = 1_000

/** Decides which names resemble one, and what each costs. */
export class Matcher {
  readonly distance: Distance
  readonly containment: Containment
  readonly maxCost: number
  readonly #own: Uint8Array
  readonly #maxDistance: number | undefined
  readonly #edits: number
  readonly #filter: LetterFilter
  readonly #automaton: Automaton

  /** @param maxDistance the highest cost of a name that resembles ours; by default 20, and any for what ours may be a subdomain of */
  constructor(name: string, vocabulary: Vocabulary, maxDistance?: number) {
    const own = toOctets(name)
    this.#maxDistance = maxDistance
    this.#own = own
    this.distance = new Distance(own)
    this.#automaton = new Automaton(own, editsInside(own.length) ?? 0)
    this.containment = new Containment(own, this.distance, this.#automaton, vocabulary)
    this.maxCost = MAX_COSTS.findLast(([length]) => length <= own.length)?.[1] ?? 0
    this.#edits = Math.floor(this.maxCost / MIN_EDIT_COST)
    this.#filter = new LetterFilter(name, this.#edits, editsInside(own.length))
  }

  /**
   * Reports the names of a block that resemble ours, from index `from` on.
   * @param shouldPause called now and then; true ends this call
   * @returns the index to continue at; undefined at the end of the block
   */
  scan<Block extends NameBlock>(
    block: Block,
    from: number,
    onMatch: OnMatch<Block>,
    shouldPause: () => boolean,
  ): number | undefined {
    const { count, names, starts, isLive, namesWith } = block
    const planes = namesWith && this.#filter.toPlanes(namesWith)
    const minLength = this.#automaton.minLength - this.#edits
    let tested = 0
    let { rows } = this.distance
    let checked = from
    for (let first = from - (from % WORD); first < count; first += WORD) {
      const candidates = planes === undefined ? ALL_CANDIDATES : this.#filter.test(planes, first / WORD)
      let bits = candidates.edited | candidates.inside | candidates.parents
      if (first < from) bits &= -1 << (from - first)
      for (; bits !== 0; bits &= bits - 1) {
        const bit = bits & -bits
        const i = first + 31 - Math.clz32(bit)
        if (i >= count) break
        const start = starts[i] ?? 0
        const end = starts[i + 1] ?? 0
        if (end - start < minLength && (candidates.parents & bit) === 0) continue
        const cost = this.#getCost(names, start, end, candidates, bit)
        if (cost < TOO_MUCH && isLive?.(i) !== false) onMatch(block, i, cost)
        if (++tested < CANDIDATES_PER_CHECK && this.distance.rows - rows < ROWS_PER_CHECK) continue
        tested = 0
        rows = this.distance.rows
        if (shouldPause()) return i + 1
      }
      if (first - checked < NAMES_PER_CHECK) continue
      checked = first
      if (shouldPause()) return first + WORD
    }
    return undefined
  }

  /** Returns whether `other` resembles our name. The name itself does not. */
  resembles(other: string): boolean {
    const octets = toOctets(other)
    return this.costWith(octets, lettersIn(octets)) < TOO_MUCH
  }

  /** Returns the cost of a name with these letters; `TOO_MUCH` if it does not resemble ours. */
  costWith(octets: Uint8Array, letters: number): number {
    return this.#getCost(octets, 0, octets.length, this.#filter.testOne(letters), 1)
  }

  /** Returns the cost by the definition, without filters; `TOO_MUCH` if the name does not resemble ours. */
  cost(octets: Uint8Array, start: number, end: number): number {
    const edited = this.editedCost(octets, start, end)
    if (edited === 0) return TOO_MUCH
    const { cost } = this.containment.find(octets, start, end)
    return this.#limited(Math.min(edited, cost, this.parentCost(octets, start, end)))
  }

  #limited(cost: number): number {
    return cost > (this.#maxDistance ?? TOO_MUCH) ? TOO_MUCH : cost
  }

  #getCost(octets: Uint8Array, start: number, end: number, candidates: Candidates, bit: number): number {
    let cost = TOO_MUCH
    if ((candidates.edited & bit) !== 0 && this.#automaton.isEdited(octets, start, end, this.#edits)) {
      cost = this.editedCost(octets, start, end)
      // The name itself does not resemble itself.
      if (cost === 0) return TOO_MUCH
    }
    if (
      (candidates.inside & bit) !== 0 &&
      cost > MIN_WORD_COST &&
      this.#automaton.isInside(octets, start, end)
    ) {
      cost = Math.min(cost, this.containment.find(octets, start, end).cost)
    }
    if ((candidates.parents & bit) !== 0) cost = Math.min(cost, this.parentCost(octets, start, end))
    return this.#limited(cost)
  }

  /** Returns the cost of the edits that make this name from ours; `TOO_MUCH` if they are too many. */
  editedCost(octets: Uint8Array, start: number, end: number): number {
    const cost = this.distance.compare(octets, start, end, this.maxCost)
    if (cost < MIN_EDIT_COST || cost === TOO_MUCH || this.#own.length > SHORT_LENGTH) return cost
    const other = octets.subarray(start, end)
    if (!isSingleEdit(this.#own, other)) return TOO_MUCH
    if (isLetterRepeated(this.#own, other)) return cost
    const shortCost = cost * SHORT_EDIT_FACTOR
    return shortCost > (this.#maxDistance ?? DEFAULT_MAX_DISTANCE) ? TOO_MUCH : shortCost
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

/** Returns whether `other` is ours with one letter doubled, or with an `s` at the end. */
function isLetterRepeated(own: Uint8Array, other: Uint8Array): boolean {
  if (other.length !== own.length + 1) return false
  let at = 0
  while (at < own.length && own[at] === other[at]) at++
  return (at > 0 && own[at - 1] === other[at]) || (at === own.length && other[at] === LETTER_S)
}

const isPair = ([first = 0, second = 0]: Uint8Array) => pairLetters[pairKey(first, second)] !== 0

interface Match<Block> {
  readonly name: string
  readonly cost: number
  readonly block: Block
  readonly i: number
}

/** Matches kept beyond those wanted before the worst are dropped. */
const SLACK = 2_048

/** Keeps the `limit` cheapest matches, ties by name: the same ones in whatever order they are added. */
export class BestMatches<Block extends NameBlock> {
  readonly #limit: number
  #matches: Match<Block>[] = []
  #maxCost = Infinity

  constructor(limit: number) {
    this.#limit = limit
  }

  readonly add: OnMatch<Block> = (block, i, cost) => {
    if (cost > this.#maxCost) return
    const { names, starts } = block
    const name = Buffer.from(names.subarray(starts[i], starts[i + 1])).toString('latin1')
    this.#matches.push({ name, cost, block, i })
    if (this.#matches.length >= this.#limit + SLACK) this.#cut()
  }

  /** Returns the matches, best first. */
  result(): readonly Match<Block>[] {
    this.#cut()
    return this.#matches
  }

  #cut(): void {
    this.#matches.sort((a, b) => a.cost - b.cost || (a.name < b.name ? -1 : 1))
    if (this.#matches.length <= this.#limit) return
    this.#matches.length = this.#limit
    this.#maxCost = this.#matches.at(-1)?.cost ?? Infinity
  }
}

/** Compares one name after another with some brands. */
export class Brands {
  readonly #matchers: ReadonlyMap<string, Matcher>

  /** @param maxDistance as of `Matcher` */
  constructor(names: readonly string[], vocabulary: Vocabulary, maxDistance?: number) {
    this.#matchers = new Map(names.map((name) => [name, new Matcher(name, vocabulary, maxDistance)]))
  }

  /** Returns the brand that a name resembles most, the first of several. A brand resembles none. */
  find(name: string): string | undefined {
    if (this.#matchers.has(name)) return undefined
    const octets = toOctets(name)
    const letters = lettersIn(octets)
    let found: string | undefined
    let least = TOO_MUCH
    for (const [brand, matcher] of this.#matchers) {
      const cost = matcher.costWith(octets, letters)
      if (cost >= least) continue
      found = brand
      least = cost
    }
    return found
  }
}
