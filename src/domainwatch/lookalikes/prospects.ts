import { GROUP, type Digest } from './digest.ts'
import { drawn, HYPHEN, LEAST_CHANGE, PAIRS } from './letters.ts'
import { brokenBy, lostBy, pairsLeft, type PairMask } from './losses.ts'
import { bitsOf, COUNT_SHIFT, DOUBLES_SHIFT, MOST_DOUBLES, sign, SIGNS, WORDS } from './signature.ts'

/** What a name may turn out to be, for all that its words tell: bits, none where it resembles ours in no way. */
export const Prospect = {
  /** Ours, but for some changes. */
  changed: 1,
  /** One that has ours inside. */
  longer: 2,
  /** One that ours ends in. */
  ending: 4,
} as const

/** In words, letters that take two signs are at most counted as `MOST_DOUBLES`; two changes give four of them at most. */
const DOUBLES_OF_TWO_CHANGES = 4

/**
 * Tells from the words of a name whether it is worth a closer look. What it lets through may resemble ours or not; what it
 * holds back does not. Changes are of two kinds: swaps, letters that change places, leave all signs, and break and make
 * three pairs of them; edits, all others, take or bring a sign, and break and make two pairs. Letters that take two signs
 * break and make more.
 */
export class Prospects {
  readonly #signs: number
  readonly #pairs: number
  readonly #morePairs: number
  readonly #count: number
  readonly #doubles: number
  readonly #changes: number
  /** Signs that so many edits may take away. */
  readonly #lost: readonly number[]
  /** At the number of edits: pairs that they and as many swaps as are left may break, and may make. */
  readonly #broken: readonly number[]
  readonly #made: readonly number[]
  readonly #mostBroken: number
  /** The same of a longer name that has ours inside, with at most this many changes. */
  readonly #changesInside: number | undefined
  readonly #lostInside: number
  readonly #brokenInside: number
  readonly #pairsInside: readonly PairMask[]

  /**
   * @param changes how many there may be, at most 2, look-alikes and hyphens not counted
   * @param changesInside how many of them inside longer names, 0 or 1; undefined to look for none of those
   */
  constructor(octets: Uint8Array, changes: number, changesInside: number | undefined) {
    const words = new Uint32Array(WORDS)
    sign(octets, 0, octets.length, words, 0)
    const [first = 0, second = 0, third = 0] = words
    this.#signs = first & SIGNS
    this.#pairs = second | 0
    this.#morePairs = third | 0
    this.#count = first >>> COUNT_SHIFT
    this.#doubles = (first >>> DOUBLES_SHIFT) & MOST_DOUBLES
    this.#changes = changes
    const letters = octets.filter((letter) => letter !== HYPHEN)
    const made = 1 + mostSignsOfEdit(letters)
    const edits = Array.from({ length: changes + 1 }, (_, count) => count)
    this.#lost = edits.map((count) => lostBy(letters, count))
    this.#broken = edits.map((count) => brokenBy(letters, count, changes - count))
    this.#mostBroken = Math.max(...this.#broken)
    this.#made = edits.map((count) => count * made + (changes - count) * 3)
    this.#changesInside = changesInside
    this.#lostInside = lostBy(letters, changesInside ?? 0)
    this.#pairsInside = changesInside !== 1 ? [[this.#pairs, this.#morePairs]] : pairsLeft(letters)
    this.#brokenInside = changesInside !== 1 ? 0 : Math.max(brokenBy(letters, 1, 0), brokenBy(letters, 0, 1))
  }

  /**
   * The first and quickest look, at the words of a group of names.
   * @param count of all names
   * @param picked is given the places in the digest of those to look at again, from place `found` on
   * @returns the place behind the last of them
   */
  pick({ groups, words }: Digest, group: number, count: number, picked: Uint32Array, found: number): number {
    const any = groups[2 * group] ?? 0
    const all = groups[2 * group + 1] ?? 0
    const signs = this.#signs
    const own = this.#count
    const most = own + 2 * this.#changes
    const least = own - this.#changes - Math.min(this.#changes, this.#doubles)
    const lost = this.#lost[this.#changes] ?? 0
    const lackingInAll = signs & ~any
    const strangeInAll = all & SIGNS & ~signs
    const isChanged =
      any >>> COUNT_SHIFT >= least &&
      all >>> COUNT_SHIFT <= most &&
      bitsOf(lackingInAll) <= lost &&
      bitsOf(strangeInAll) <= 2 * this.#changes
    const leastInside = this.#leastInside()
    const lostInside = this.#lostInside
    const brokenInside = this.#brokenInside
    const isLonger = any >>> COUNT_SHIFT >= leastInside && bitsOf(lackingInAll) <= lostInside
    const isEnding = strangeInAll === 0 && all >>> COUNT_SHIFT < own
    if (!isChanged && !isLonger && !isEnding) return found
    const pairs = this.#pairs
    const morePairs = this.#morePairs
    const to = Math.min(count, (group + 1) * GROUP)
    let next = found
    for (let place = group * GROUP; place < to; place++) {
      const at = place * WORDS
      const first = words[at] ?? 0
      const second = words[at + 1] ?? 0
      const third = words[at + 2] ?? 0
      const size = first >>> COUNT_SHIFT
      const lacking = signs & ~first
      const strange = first & SIGNS & ~signs
      const absent = pairs & ~second
      if (
        (isLonger &&
          size >= leastInside &&
          bitsOf(lacking) <= lostInside &&
          bitsOf(absent) + bitsOf(morePairs & ~third) <= brokenInside) ||
        (isEnding && size < own && (strange | (second & ~pairs) | (third & ~morePairs)) === 0) ||
        (isChanged &&
          size <= most &&
          size >= least &&
          bitsOf(lacking) <= lost &&
          bitsOf(strange) <= 2 * this.#changes &&
          bitsOf(absent) + bitsOf(morePairs & ~third) <= this.#mostBroken)
      ) {
        picked[next++] = place
      }
    }
    return next
  }

  /** @returns bits of `Prospect` for the name whose words begin there */
  of(words: Uint32Array, at: number): number {
    const first = words[at] ?? 0
    const second = words[at + 1] ?? 0
    const third = words[at + 2] ?? 0
    const count = first >>> COUNT_SHIFT
    const lacking = this.#signs & ~first
    const strange = first & SIGNS & ~this.#signs
    const absent = bitsOf(this.#pairs & ~second) + bitsOf(this.#morePairs & ~third)
    const additional = bitsOf(second & ~this.#pairs) + bitsOf(third & ~this.#morePairs)
    let prospect = 0
    const isLonger =
      bitsOf(lacking) <= this.#lostInside &&
      absent <= this.#brokenInside &&
      count >= this.#leastInside() &&
      this.#pairsInside.some(([some, others]) => (some & ~second) === 0 && (others & ~third) === 0)
    if (isLonger) prospect |= Prospect.longer
    if (strange === 0 && additional === 0 && count < this.#count) prospect |= Prospect.ending
    const doubles = (first >>> DOUBLES_SHIFT) & MOST_DOUBLES
    const edits = this.#fewestEdits(bitsOf(lacking), bitsOf(strange), count - this.#count, doubles)
    if (edits > this.#changes || absent > (this.#broken[edits] ?? 0)) return prospect
    const slack = doubles === MOST_DOUBLES ? DOUBLES_OF_TWO_CHANGES : doubles
    return additional <= (this.#made[edits] ?? 0) + slack ? prospect | Prospect.changed : prospect
  }

  /** Fewest signs of a name that has ours inside. */
  #leastInside(): number {
    if (this.#changesInside === undefined) return Infinity
    return this.#count - this.#changesInside - Math.min(this.#changesInside, this.#doubles)
  }

  /** That make up for the signs that are gone, those that have come, and how many more there are. */
  #fewestEdits(lost: number, gained: number, more: number, doubles: number): number {
    let edits = 0
    while (
      edits <= this.#changes &&
      (lost > (this.#lost[edits] ?? 0) ||
        Math.max(gained, more) > edits + Math.min(edits, doubles) ||
        -more > edits + Math.min(edits, this.#doubles))
    ) {
      edits++
    }
    return edits
  }
}

/** A letter for another, or two that nearly look like it where they have nothing in common with it. */
function mostSignsOfEdit(letters: Uint8Array): number {
  const splits = PAIRS.filter(({ one, cost }) => cost >= LEAST_CHANGE && letters.includes(one.charCodeAt(0)))
  return splits.reduce((most, { two, one }) => {
    const signs = [...(drawn[one.charCodeAt(0)] ?? [])]
    const others = [...two].flatMap((letter) => drawn[letter.charCodeAt(0)] ?? [])
    for (const each of others.splice(0)) {
      const place = signs.indexOf(each)
      if (place < 0) others.push(each)
      else signs.splice(place, 1)
    }
    return Math.max(most, others.length)
  }, 1)
}
