import { CONNECTORS } from './inside.ts'
import { HYPHEN, LEAST_CHANGE, MAX_LOOK_ALIKE, PAIRS, replacementCosts } from './letters.ts'

/**
 * Follows, letter by letter, all places of a name at once that another name may have come to: one bit a place, one word
 * for each number of changes made on the way (Wu and Manber's way). What looks the same and hyphens are no changes. It lets
 * all names through that may resemble ours, and few others.
 */

/** Letters of the name that are followed: as many as a small integer has room for. Longer names are told by these. */
const MOST_LETTERS = 29

type Places = Uint32Array

const keyOf = (first: number, second: number, third: number) => (first << 16) | (second << 8) | third
const connectorKeys = new Set(
  CONNECTORS.map((connector) => {
    const [first = 0, second = 0, third = 0] = Buffer.from(connector.padStart(3, '\0'), 'latin1')
    return keyOf(first, second, third)
  }),
)

const pairKey = (first: number, second: number) => first * 256 + second

export class Automaton {
  readonly #changes: number
  readonly #isWhole: boolean
  /** The place behind the last letter; where there are more, the one before it too, as a change of two letters may end there. */
  readonly #last: number
  readonly #all: number
  /** By letter of the other name: the places behind letters that look the same, and that are the same. */
  readonly #alike: Places = new Uint32Array(256)
  readonly #same: Places = new Uint32Array(256)
  /** The places behind two letters that look like it, and that nearly do. */
  readonly #joins: Places = new Uint32Array(256)
  readonly #nearJoins: Places = new Uint32Array(256)
  /** By letter: whether it ends two letters that look like one of ours; and by the two, the places behind that one. */
  readonly #splits = new Uint8Array(256)
  readonly #alikeSplits = new Map<number, number>()
  readonly #nearSplits = new Map<number, number>()

  /** @param changes 1 or 2 */
  constructor(octets: Uint8Array, changes: number) {
    const all = octets.filter((letter) => letter !== HYPHEN)
    const letters = all.subarray(0, MOST_LETTERS)
    this.#changes = changes
    this.#isWhole = all.length === letters.length
    this.#last = this.#isWhole ? 1 << letters.length : 3 << (letters.length - 1)
    this.#all = 2 ** (letters.length + 1) - 1
    for (const [i, own] of letters.entries()) this.#addLetter(own, letters[i - 1] ?? 0, 2 << i)
  }

  #addLetter(own: number, before: number, place: number): void {
    add(this.#same, own, place)
    for (let letter = 0; letter < 256; letter++) {
      if ((replacementCosts[pairKey(own, letter)] ?? 0) <= MAX_LOOK_ALIKE) add(this.#alike, letter, place)
    }
    for (const { two, one, cost } of PAIRS) {
      const isNear = cost >= LEAST_CHANGE
      const [first, second, single] = [two.charCodeAt(0), two.charCodeAt(1), one.charCodeAt(0)]
      if (first === before && second === own) add(isNear ? this.#nearJoins : this.#joins, single, place)
      if (single !== own) continue
      const splits = isNear ? this.#nearSplits : this.#alikeSplits
      const key = pairKey(first, second)
      splits.set(key, (splits.get(key) ?? 0) | place)
      this.#splits[second] = 1
    }
  }

  /** Whether the other name, or its beginning, may be ours but for the changes. */
  mayBecome(octets: Uint8Array, start: number, end: number): boolean {
    const changes = this.#changes
    const all = this.#all
    const last = this.#last
    // Places by the number of changes; first by leaving letters of ours out.
    let [zero, one, two] = [1, 3, 7]
    // The same one letter earlier.
    let [zeroWas, oneWas, twoWas] = [0, 0, 0]
    let before = 0
    for (let at = start; at < end; at++) {
      const letter = octets[at] ?? 0
      if (letter === HYPHEN) continue
      const alike = this.#alike[letter] ?? 0
      const joins = this.#joins[letter] ?? 0
      const nearJoins = this.#nearJoins[letter] ?? 0
      const swapped = ((this.#same[letter] ?? 0) << 1) & (this.#same[before] ?? 0)
      let split = 0
      let nearSplit = 0
      if (this.#splits[letter] === 1) {
        split = this.#alikeSplits.get(pairKey(before, letter)) ?? 0
        nearSplit = this.#nearSplits.get(pairKey(before, letter)) ?? 0
      }
      const nextZero = ((zero << 1) & alike) | ((zero << 2) & joins) | ((zeroWas << 1) & split)
      const nextOne =
        ((one << 1) & alike) |
        ((one << 2) & joins) |
        ((oneWas << 1) & split) |
        (zero | (zero << 1) | (nextZero << 1)) |
        (((zeroWas << 2) & swapped) | ((zero << 2) & nearJoins) | ((zeroWas << 1) & nearSplit))
      let alive = nextOne
      let aliveWas = one
      if (changes > 1) {
        alive =
          ((two << 1) & alike) |
          ((two << 2) & joins) |
          ((twoWas << 1) & split) |
          (one | (one << 1) | (nextOne << 1)) |
          (((oneWas << 2) & swapped) | ((one << 2) & nearJoins) | ((oneWas << 1) & nearSplit))
        twoWas = two
        aliveWas = two
        two = alive & all
      }
      oneWas = one
      one = nextOne & all
      zeroWas = zero
      zero = nextZero & all
      before = letter
      // Two letters may be on their way from where it was.
      if (((alive | aliveWas) & all) === 0) return false
      if (!this.#isWhole && (alive & last) !== 0) return true
    }
    return this.#isWhole && ((changes > 1 ? two : one) & last) !== 0
  }

  /**
   * Whether the name, or its beginning, may be inside the other one, where nothing changes but look-alikes, and what one
   * further change makes of it.
   * @param changes 0 or 1
   */
  mayBeInside(octets: Uint8Array, start: number, end: number, changes: number): boolean {
    const last = this.#last
    const all = this.#all
    // Places without a change, now and up to two letters earlier, as a connector has two or three; then those with one.
    let [zero, zeroWas, zeroBefore] = [1, 0, 0]
    let [one, oneWas] = [changes > 0 ? 3 : 0, 0]
    let [before, first] = [0, 0]
    for (let at = start; at < end; at++) {
      const letter = octets[at] ?? 0
      if (letter === HYPHEN) continue
      const alike = this.#alike[letter] ?? 0
      const joins = this.#joins[letter] ?? 0
      let split = 0
      let nearSplit = 0
      if (this.#splits[letter] === 1) {
        split = this.#alikeSplits.get(pairKey(before, letter)) ?? 0
        nearSplit = this.#nearSplits.get(pairKey(before, letter)) ?? 0
      }
      const nextZero = 1 | (((zero << 1) & alike) | ((zero << 2) & joins) | ((zeroWas << 1) & split))
      if (changes > 0) {
        const swapped = ((this.#same[letter] ?? 0) << 1) & (this.#same[before] ?? 0)
        const nearJoins = this.#nearJoins[letter] ?? 0
        let next =
          ((one << 1) & alike) |
          ((one << 2) & joins) |
          ((oneWas << 1) & split) |
          (zero | (zero << 1) | (nextZero << 1)) |
          (((zeroWas << 2) & swapped) | ((zero << 2) & nearJoins) | ((zeroWas << 1) & nearSplit))
        if (connectorKeys.has(keyOf(0, before, letter))) next |= zeroWas
        if (connectorKeys.has(keyOf(first, before, letter))) next |= zeroBefore
        oneWas = one
        one = next & all
        if ((one & last) !== 0) return true
      }
      if ((nextZero & last) !== 0) return true
      zeroBefore = zeroWas
      zeroWas = zero
      zero = nextZero & all
      first = before
      before = letter
    }
    return false
  }
}

function add(places: Places, letter: number, place: number): void {
  places[letter] = (places[letter] ?? 0) | place
}
