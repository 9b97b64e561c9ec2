/**
 * How easily one letter is taken for another, as a cost in tenths of an ordinary change. Names use the .cl alphabet, so
 * each letter is one octet of Latin-1.
 */

/** Kinds of letter replacement, named as `dnstwist` names them, and accents. */
export type ReplacementKind = 'accent' | 'homoglyph' | 'vowel-swap' | 'replacement' | 'bitsquatting'

export const ORDINARY_COST = 10
const ACCENT_COST = 1
const HOMOGLYPH_COST = 2
const NEAR_HOMOGLYPH_COST = 8
const VOWEL_COST = 8
const NEIGHBOUR_COST = 8
const ONE_BIT_COST = 9

/** Replacements up to this cost look the same; every other change but a hyphen costs `MIN_EDIT_COST` or more. */
export const MAX_HOMOGLYPH_COST = HOMOGLYPH_COST + ACCENT_COST
export const MIN_EDIT_COST = NEAR_HOMOGLYPH_COST

export const HYPHEN = '-'.charCodeAt(0)
export const LETTER_S = 's'.charCodeAt(0)

/** Letters that differ by an accent or a tilde, the plain one first. */
const ACCENTS = ['aá', 'eé', 'ií', 'oó', 'uúü', 'nñ']
/** Letters and digits that look the same at a glance. */
const HOMOGLYPHS = ['o0', 'l1', 'i1', 'il', 's5', 'e3', 'a4', 't7', 'b8', 'z2', 'gq', 'g9', 'q9', 'g6']
/** Letters and digits that look nearly the same. */
const NEAR_HOMOGLYPHS = ['mn', 'nr', 'uv', 'bd', 'ce', '38', '69']
const VOWELS = 'aeiou'
/** Spanish layout, each row half a key to the right of the one above it. */
const KEYBOARD = ['1234567890', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm']

/** Two letters that look like one. */
export const LETTER_PAIRS: readonly {
  readonly two: string
  readonly one: string
  readonly cost: number
}[] = [
  { two: 'rn', one: 'm', cost: HOMOGLYPH_COST },
  { two: 'vv', one: 'w', cost: HOMOGLYPH_COST },
  { two: 'cl', one: 'd', cost: HOMOGLYPH_COST },
  { two: 'c1', one: 'd', cost: HOMOGLYPH_COST },
  { two: 'nn', one: 'm', cost: NEAR_HOMOGLYPH_COST },
  { two: 'lb', one: 'b', cost: NEAR_HOMOGLYPH_COST },
  { two: 'dl', one: 'd', cost: NEAR_HOMOGLYPH_COST },
  { two: 'lh', one: 'h', cost: NEAR_HOMOGLYPH_COST },
  { two: 'lc', one: 'k', cost: NEAR_HOMOGLYPH_COST },
]

const getCode = (letter: string) => letter.charCodeAt(0)

/** Index of two letters in a table of all pairs of letters. */
export const pairKey = (first: number, second: number) => first * 256 + second

/** By `pairKey`: the letter that two letters look like, or 0, and the cost of taking them for it. */
export const pairLetters = new Uint8Array(256 * 256)
export const pairCosts = new Uint8Array(256 * 256)
for (const { two, one, cost } of LETTER_PAIRS) {
  const key = pairKey(two.charCodeAt(0), two.charCodeAt(1))
  pairLetters[key] = getCode(one)
  pairCosts[key] = cost
}

interface Replacement {
  readonly cost: number
  readonly kind: ReplacementKind
}

/** Each letter without its accent. */
const bases = new Uint8Array(256).map((_, code) => code)
for (const [base = '', ...accented] of ACCENTS)
  for (const letter of accented) bases[getCode(letter)] = getCode(base)

const replacements = new Map<number, Replacement>()
const neighbours = new Set<number>()

/** Adds a replacement in both directions, unless a cheaper or equally cheap one is known. */
function addReplacement(one: string, other: string, replacement: Replacement): void {
  for (const key of [pairKey(getCode(one), getCode(other)), pairKey(getCode(other), getCode(one))]) {
    const known = replacements.get(key)
    if (known === undefined || known.cost > replacement.cost) replacements.set(key, replacement)
  }
}

function addGroups(groups: readonly string[], replacement: Replacement): void {
  for (const group of groups)
    for (const one of group)
      for (const other of group) if (one !== other) addReplacement(one, other, replacement)
}

// Among equal costs the first kind wins: how a name looks and sounds is a better reason than where its keys are.
addGroups(ACCENTS, { cost: ACCENT_COST, kind: 'accent' })
addGroups(HOMOGLYPHS, { cost: HOMOGLYPH_COST, kind: 'homoglyph' })
addGroups(NEAR_HOMOGLYPHS, { cost: NEAR_HOMOGLYPH_COST, kind: 'homoglyph' })
addGroups([VOWELS], { cost: VOWEL_COST, kind: 'vowel-swap' })
for (const [row, keys] of KEYBOARD.entries()) {
  for (const [column, key] of [...keys].entries()) {
    const below = KEYBOARD[row + 1] ?? ''
    for (const other of [keys[column + 1], below[column - 1], below[column]]) {
      if (other === undefined) continue
      addReplacement(key, other, { cost: NEIGHBOUR_COST, kind: 'replacement' })
      neighbours.add(pairKey(getCode(key), getCode(other))).add(pairKey(getCode(other), getCode(key)))
    }
  }
}

/** Returns the cheapest way to take `other` for `one`, two different letters. */
export function toReplacement(one: number, other: number): Replacement {
  const direct = replacements.get(pairKey(one, other))
  if (direct !== undefined) return direct
  const base = bases[one] ?? one
  const otherBase = bases[other] ?? other
  // Two accents on the same letter, or an accented letter and what its base is taken for.
  if (base === otherBase) return { cost: 2 * ACCENT_COST, kind: 'accent' }
  const byBase = replacements.get(pairKey(base, otherBase))
  if (byBase !== undefined) {
    return { cost: Math.min(ORDINARY_COST, byBase.cost + ACCENT_COST), kind: byBase.kind }
  }
  const bits = one ^ other
  if ((bits & (bits - 1)) === 0) return { cost: ONE_BIT_COST, kind: 'bitsquatting' }
  return { cost: ORDINARY_COST, kind: 'replacement' }
}

/** By `pairKey`: `toReplacement(one, other).cost`; 0 for a letter and itself. */
export const replacementCosts = new Uint8Array(256 * 256).fill(ORDINARY_COST)

/** By `pairKey`: 1 if two letters are next to each other on a keyboard, where an accent is typed with its letter. */
export const areNeighbours = new Uint8Array(256 * 256)

// Names have no other letters: all pairs of octets would take 10 ms of every start.
const LETTERS = Array.from('-0123456789abcdefghijklmnopqrstuvwxyzáéíñóúü', getCode)
for (const one of LETTERS) {
  for (const other of LETTERS) {
    const key = pairKey(one, other)
    const isNeighbour = neighbours.has(key) || neighbours.has(pairKey(bases[one] ?? 0, bases[other] ?? 0))
    replacementCosts[key] = one === other ? 0 : toReplacement(one, other).cost
    areNeighbours[key] = isNeighbour ? 1 : 0
  }
}

/** Returns a name in Latin-1, which holds all of .cl's letters. */
export function toOctets(name: string): Uint8Array {
  return Buffer.from(name, 'latin1')
}
