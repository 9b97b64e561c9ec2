import {
  LETTER_PAIRS,
  MAX_HOMOGLYPH_COST,
  MIN_EDIT_COST,
  toOctets,
  pairKey,
  replacementCosts,
} from './letters.ts'

/** The alphabet of .cl without the hyphen, roughly by frequency: common letters exclude most names early. */
const LETTERS = 'eaoirnlsctdmupbgvhfyzjkqxw0123456789áéíóúüñ'
const HOMOGLYPH_PAIRS = LETTER_PAIRS.filter(({ cost }) => cost <= MAX_HOMOGLYPH_COST)
const NEAR_PAIRS = LETTER_PAIRS.filter(({ cost }) => cost >= MIN_EDIT_COST)

/** Letters of the shortest name that ours may be a subdomain of. */
export const MIN_PARENT_LENGTH = 3

/** Returns which names of a block contain a letter: a bit per name. */
export type NamesWith = (letter: number) => Uint32Array

/** How 32 names may resemble ours as far as their letters tell: a bit per name. */
export interface Candidates {
  /** Ours except for some edits. */
  readonly edited: number
  /** Names that contain ours. */
  readonly inside: number
  /** Names that ours ends in. */
  readonly parents: number
}

export const ALL_CANDIDATES: Candidates = { edited: -1, inside: -1, parents: -1 }
/** Of one name: a parent, which other names than those with its letters may have, and what else its letters allow. */
const CANDIDATES = [
  { edited: 0, inside: 0, parents: 1 },
  { edited: 1, inside: 0, parents: 1 },
  { edited: 0, inside: 1, parents: 1 },
  { edited: 1, inside: 1, parents: 1 },
] as const

/** The planes of a block that a filter reads. */
interface Planes {
  readonly ending: readonly Uint32Array[]
  readonly required: readonly (readonly Uint32Array[])[]
  readonly foreign: readonly Uint32Array[]
}

/**
 * Decides from the letters of names alone which of them can resemble ours, 32 names at a time. Never excludes one that does.
 * Without edits, a name has a letter of each required set and no foreign ones.
 */
export class LetterFilter {
  /** The letters at the end of our name, which parents have as well. */
  readonly #ending: string
  /** Each has the letters that one of ours may be written with. */
  readonly #required: readonly string[]
  /** The same as the letters of one name have them. */
  readonly #requiredBits: readonly number[]
  readonly #foreign: string
  readonly #maxMissing: number
  readonly #maxMissingInside: number
  readonly #maxForeign: number

  /**
   * @param edits how many there may be, homoglyphs and hyphens not counted
   * @param editsInside how many where our name is inside another, 0 or 1; undefined if that is not looked for
   */
  constructor(name: string, edits: number, editsInside: number | undefined) {
    const own = name.replaceAll('-', '')
    this.#ending = name.slice(-MIN_PARENT_LENGTH)
    this.#required = [...new Set([...own].map((_, i) => toSpellings(own, i)))]
    this.#requiredBits = this.#required.map((letters) => lettersIn(toOctets(letters)))
    const splits = HOMOGLYPH_PAIRS.filter(({ one }) => own.includes(one)).map(({ two }) => two)
    const known = new Set([...this.#required, ...splits].join(''))
    this.#foreign = [...LETTERS].filter((letter) => !known.has(letter)).join('')
    const lost = mostLetters(NEAR_PAIRS.filter(({ two }) => own.includes(two)))
    const added = mostLetters(NEAR_PAIRS.filter(({ one }) => own.includes(one)))
    this.#maxMissing = edits * lost
    this.#maxMissingInside = editsInside === undefined ? -1 : editsInside * lost
    this.#maxForeign = edits * added
  }

  toPlanes(namesWith: NamesWith): Planes {
    const toPlanes = (letters: string) => [...toOctets(letters)].map(namesWith)
    return {
      ending: toPlanes(this.#ending),
      required: this.#required.map(toPlanes),
      foreign: toPlanes(this.#foreign),
    }
  }

  /** Tests one name, whose bit is the first. @param letters as `lettersIn` returns them */
  testOne(letters: number): Candidates {
    let missing = 0
    for (const bits of this.#requiredBits) if ((letters & bits) === 0) missing++
    const isInside = missing <= this.#maxMissingInside
    return missing <= this.#maxMissing ? CANDIDATES[isInside ? 3 : 1] : CANDIDATES[isInside ? 2 : 0]
  }

  /** Tests the names whose bits are in word `at` of the planes. */
  test({ ending, required, foreign }: Planes, at: number): Candidates {
    // Names that lack more than 0 to 4 required sets.
    let [over0, over1, over2, over3, over4] = [0, 0, 0, 0, 0]
    for (const planes of required) {
      let present = 0
      for (const plane of planes) present |= plane[at] ?? 0
      const missing = ~present
      over4 |= over3 & missing
      over3 |= over2 & missing
      over2 |= over1 & missing
      over1 |= over0 & missing
      over0 |= missing
    }
    const inside =
      this.#maxMissingInside < 0 ? 0 : ~pick(this.#maxMissingInside, over0, over1, over2, over3, over4)
    const edited = ~pick(this.#maxMissing, over0, over1, over2, over3, over4)
    let parents = -1
    for (const plane of ending) parents &= plane[at] ?? 0
    // Names with more than 0 to 4 foreign letters.
    over0 = over1 = over2 = over3 = over4 = 0
    for (const plane of foreign) {
      const present = plane[at] ?? 0
      over4 |= over3 & present
      over3 |= over2 & present
      over2 |= over1 & present
      over1 |= over0 & present
      over0 |= present
      if (
        (parents & ~over0) === 0 &&
        (edited & ~pick(this.#maxForeign, over0, over1, over2, over3, over4)) === 0
      )
        break
    }
    const over = pick(this.#maxForeign, over0, over1, over2, over3, over4)
    return { edited: edited & ~over, inside, parents: parents & ~over0 }
  }
}

/** Returns the letters of a name as bits, which some letters share. */
export function lettersIn(octets: Uint8Array): number {
  let letters = 0
  for (const octet of octets) letters |= 1 << (octet & 31)
  return letters
}

function pick(index: number, n0: number, n1: number, n2: number, n3: number, n4: number): number {
  return index === 0 ? n0 : index === 1 ? n1 : index === 2 ? n2 : index === 3 ? n3 : n4
}

/** Returns the most letters that an edit can remove, or add: one, or those of a pair that nearly looks like another letter. */
function mostLetters(pairs: typeof LETTER_PAIRS): number {
  return Math.max(1, ...pairs.map(({ two, one }) => new Set(two.replace(one, '')).size))
}

/** Returns letters of which a name without edits has one in place of `own[i]`. */
function toSpellings(own: string, i: number): string {
  const letter = own.charCodeAt(i)
  const isSpelling = (other: string) =>
    (replacementCosts[pairKey(letter, other.charCodeAt(0))] ?? 0) <= MAX_HOMOGLYPH_COST ||
    HOMOGLYPH_PAIRS.some(
      ({ two, one }) =>
        (one === own[i] && two.startsWith(other)) ||
        (one === other && (own.startsWith(two, i) || own.startsWith(two, i - 1))),
    )
  return [...LETTERS].filter(isSpelling).join('')
}
