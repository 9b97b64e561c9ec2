import { Alignment, octetsOf, TOO_MUCH } from './alignment.ts'
import { Automaton } from './automaton.ts'
import { HYPHEN, LEAST_CHANGE } from './letters.ts'
import { hasAll, isNear, nearSignatures, signatureOf, type NearSignatures } from './signature.ts'
import { Containment, LEAST_WORD } from './words.ts'

export interface NameBlock {
  readonly count: number
  /** In Latin-1, one behind the other; the one at `p` from `starts[p]` to `starts[p + 1]`. */
  readonly names: Uint8Array
  readonly starts: Uint32Array
  /** `signatureOf` each, where that is kept. */
  readonly signatures?: Uint32Array
  /** Whether the one at `p` counts; all of them where this is not given. */
  readonly isLive?: (position: number) => boolean
}

/** What changes may cost in all, by the length of the name: the last entry that is not longer counts. */
const MOST: readonly (readonly [length: number, most: number])[] = [
  [1, 10],
  [4, 16],
  [5, 20],
]
/** What ours is a subdomain's name below: `banco` may be set up to show `mi.banco`. */
const SUBDOMAIN = 12
const SUBDOMAIN_LETTER = 2
const LEAST_PARENT = 2

/** Between two looks at the clock: some 50 µs. A name that is looked at closely counts as many. */
const CHECK_EVERY = 8_192
const CLOSE_LOOK = 32

/** Told of the name at `start` to `end` of the names. */
export type Found = (names: Uint8Array, start: number, end: number, cost: number) => void

/** Decides which names resemble one. */
export class Matcher {
  readonly alignment: Alignment
  readonly containment: Containment
  /** What changes may cost in all. */
  readonly most: number
  readonly #octets: Uint8Array
  readonly #near: NearSignatures
  readonly #automaton: Automaton

  constructor(name: string) {
    const octets = octetsOf(name)
    this.#octets = octets
    this.alignment = new Alignment(octets)
    this.containment = new Containment(octets)
    this.most = MOST.findLast(([length]) => length <= octets.length)?.[1] ?? 0
    const changes = Math.floor(this.most / LEAST_CHANGE)
    this.#near = nearSignatures(octets, changes)
    this.#automaton = new Automaton(octets, changes)
  }

  /**
   * Looks through names from one on.
   * @param found is told of each that resembles ours
   * @param isOver asked now and then: whether to stop here
   * @returns the first name not looked at
   */
  sweep(block: NameBlock, from: number, found: Found, isOver: () => boolean): number {
    const { names, starts, count, signatures, isLive } = block
    const near = this.#near
    let work = 0
    for (let index = from; index < count; index++) {
      const start = starts[index] ?? 0
      const end = starts[index + 1] ?? 0
      const signature = signatures === undefined ? signatureOf(names, start, end) : (signatures[index] ?? 0)
      const nearby = isNear(near, signature)
      const within = hasAll(near, signature)
      work++
      if (nearby || within || this.#mayBeParent(names, start, end)) {
        work += CLOSE_LOOK
        const cost = this.#cost(names, start, end, nearby, within)
        if (cost < TOO_MUCH && isLive?.(index) !== false) found(names, start, end, cost)
      }
      if (work > CHECK_EVERY) {
        if (isOver()) return index + 1
        work = 0
      }
    }
    return count
  }

  /** What it costs to make this name from ours, nothing left out; `TOO_MUCH` where it does not resemble it. */
  cost(octets: Uint8Array, start: number, end: number): number {
    const changed = this.alignment.cost(octets, start, end, this.most)
    if (changed === 0) return TOO_MUCH
    const { cost } = this.containment.find(octets, start, end)
    return Math.min(changed, cost, this.parentCost(octets, start, end))
  }

  /** The same where what looks promising only is looked at closely. */
  #cost(octets: Uint8Array, start: number, end: number, nearby: boolean, within: boolean): number {
    let cost = TOO_MUCH
    if (nearby && this.#automaton.mayBecome(octets, start, end)) {
      cost = this.alignment.cost(octets, start, end, this.most)
      // The name itself resembles nothing.
      if (cost === 0) return TOO_MUCH
    }
    if (within && cost > LEAST_WORD && this.#automaton.mayBeInside(octets, start, end)) {
      cost = Math.min(cost, this.containment.find(octets, start, end).cost)
    }
    return Math.min(cost, this.parentCost(octets, start, end))
  }

  #mayBeParent(octets: Uint8Array, start: number, end: number): boolean {
    const own = this.#octets
    return end - start < own.length && octets[end - 1] === own[own.length - 1]
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
