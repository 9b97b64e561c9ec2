/**
 * What one letter may be taken for another by, and what that costs, in tenths of an ordinary change. Names are of the
 * .cl alphabet, so each letter is one octet of Latin-1.
 */

/** The kinds of change that `dnstwist` knows, where .cl has them, and accents. */
export type LetterChange = 'accent' | 'homoglyph' | 'vowel-swap' | 'replacement' | 'bitsquatting'

export const ORDINARY = 10
const ACCENT = 1
const ALIKE = 2
const NEARLY_ALIKE = 8
const VOWEL = 8
const NEIGHBOUR = 8
const ONE_BIT = 9

export const HYPHEN = '-'.charCodeAt(0)

/** Letters that differ by an accent or a tilde. */
const ACCENTS = ['aá', 'eé', 'ií', 'oó', 'uúü', 'nñ']
/** What looks the same at a glance, digits that are written for letters among them. */
const LOOK_ALIKES = ['o0', 'l1', 'i1', 'il', 's5', 'e3', 'a4', 't7', 'b8', 'z2', 'gq', 'g9', 'q9', 'g6']
/** What looks nearly the same. */
const NEAR_LOOK_ALIKES = ['mn', 'nr', 'uv', 'bd', 'ce', '38', '69']
const VOWELS = 'aeiou'
/** Spanish layout, each row half a key to the right of the one above it. */
const KEYBOARD = ['1234567890', 'qwertyuiop', 'asdfghjklñ', 'zxcvbnm']

/** Two letters that look like one: those whose change costs next to nothing, and those that need a second look. */
export const PAIRS: readonly { readonly two: string; readonly one: string; readonly cost: number }[] = [
  { two: 'rn', one: 'm', cost: ALIKE },
  { two: 'vv', one: 'w', cost: ALIKE },
  { two: 'cl', one: 'd', cost: ALIKE },
  { two: 'c1', one: 'd', cost: ALIKE },
  { two: 'nn', one: 'm', cost: NEARLY_ALIKE },
  { two: 'lb', one: 'b', cost: NEARLY_ALIKE },
  { two: 'dl', one: 'd', cost: NEARLY_ALIKE },
  { two: 'lh', one: 'h', cost: NEARLY_ALIKE },
  { two: 'lc', one: 'k', cost: NEARLY_ALIKE },
]

const pairs = new Map(PAIRS.map((pair) => [pair.two, pair]))

/** What two letters look like. */
export function pairOf(first: number, second: number) {
  return pairs.get(String.fromCharCode(first, second))
}

interface Replacement {
  readonly cost: number
  readonly kind: LetterChange
}

const codeOf = (letter: string) => letter.charCodeAt(0)
/** Without its accent. */
const bases = new Uint8Array(256).map((_, code) => code)
for (const [base = '', ...accented] of ACCENTS)
  for (const letter of accented) bases[codeOf(letter)] = codeOf(base)

const replacements = new Map<number, Replacement>()
const neighbours = new Set<number>()
const keyOf = (one: number, other: number) => one * 256 + other

function declare(one: string, other: string, replacement: Replacement): void {
  for (const key of [keyOf(codeOf(one), codeOf(other)), keyOf(codeOf(other), codeOf(one))]) {
    const known = replacements.get(key)
    if (known === undefined || known.cost > replacement.cost) replacements.set(key, replacement)
  }
}

function declareAll(groups: readonly string[], replacement: Replacement): void {
  for (const group of groups)
    for (const one of group) for (const other of group) if (one !== other) declare(one, other, replacement)
}

// Of what costs the same the first tells: how a name looks and sounds says more than where its keys are.
declareAll(ACCENTS, { cost: ACCENT, kind: 'accent' })
declareAll(LOOK_ALIKES, { cost: ALIKE, kind: 'homoglyph' })
declareAll(NEAR_LOOK_ALIKES, { cost: NEARLY_ALIKE, kind: 'homoglyph' })
declareAll([VOWELS], { cost: VOWEL, kind: 'vowel-swap' })
for (const [row, keys] of KEYBOARD.entries()) {
  for (const [column, key] of [...keys].entries()) {
    const below = KEYBOARD[row + 1] ?? ''
    for (const other of [keys[column + 1], below[column - 1], below[column]]) {
      if (other === undefined) continue
      declare(key, other, { cost: NEIGHBOUR, kind: 'replacement' })
      neighbours.add(keyOf(codeOf(key), codeOf(other))).add(keyOf(codeOf(other), codeOf(key)))
    }
  }
}

/** Whether one is beside the other on a keyboard, where accents are typed with the letter they are on. */
export function areNeighbours(one: number, other: number): boolean {
  return neighbours.has(keyOf(one, other)) || neighbours.has(keyOf(bases[one] ?? one, bases[other] ?? other))
}

/** What it takes to write `other` for `one`, two different letters. */
export function replacementOf(one: number, other: number): Replacement {
  const direct = replacements.get(keyOf(one, other))
  if (direct !== undefined) return direct
  const base = bases[one] ?? one
  const otherBase = bases[other] ?? other
  // Two accents on the same letter, or an accented letter and what its base is taken for.
  if (base === otherBase) return { cost: 2 * ACCENT, kind: 'accent' }
  const byBase = replacements.get(keyOf(base, otherBase))
  if (byBase !== undefined) return { cost: Math.min(ORDINARY, byBase.cost + ACCENT), kind: byBase.kind }
  const bits = one ^ other
  if ((bits & (bits - 1)) === 0) return { cost: ONE_BIT, kind: 'bitsquatting' }
  return { cost: ORDINARY, kind: 'replacement' }
}

/** `replacementOf(one, other).cost` at `one * 256 + other`; 0 for a letter and itself. */
export const replacementCosts = new Uint8Array(256 * 256).map((_, key) =>
  key >> 8 === (key & 255) ? 0 : replacementOf(key >> 8, key & 255).cost,
)

/**
 * Letters that cost `ALIKE` or less in place of each other. In the order of how much it tells whether a name has them: those
 * last that half of all names have.
 */
const SIGNS = 'x j z2 k y f h ií1l b8 v gq96 aá4 r p eé3 nñ uúü oó0 c s5 t7'.split(' ')

/**
 * By letter: what it is drawn with, as places in `SIGNS`; a letter that looks the same as two is drawn with both of theirs,
 * and what is no letter of a name with what comes last. Names that look the same are drawn with the same signs in the same
 * order, hyphens apart.
 */
export const NO_SIGN = SIGNS.length
export const drawn: readonly (readonly number[])[] = Array.from({ length: 256 }, (_, code) => {
  const letter = String.fromCharCode(code)
  const two = PAIRS.find((pair) => pair.one === letter && pair.cost <= ALIKE)?.two
  return [...(two ?? letter)].map((sign) => {
    const place = SIGNS.findIndex((letters) => letters.includes(sign))
    return place < 0 ? NO_SIGN : place
  })
})

/** The least that any other change costs, hyphens apart. */
export const LEAST_CHANGE = NEARLY_ALIKE
/** The most that a letter costs that looks the same: what it is, or is taken for, with or without an accent. */
export const MAX_LOOK_ALIKE = ALIKE + ACCENT
