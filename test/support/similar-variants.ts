import { parseLabel } from '../../src/lib/domain-names.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'l i',
  3: '8',
  6: '9',
  8: '3',
  9: '6',
  a: 'á 4',
  b: 'd lb',
  c: 'e',
  d: 'b cl dl',
  e: 'c é',
  g: 'q',
  h: 'lh',
  i: '1 l í',
  k: 'lc',
  l: '1 i',
  m: 'n nn rn',
  n: 'm r ñ',
  ñ: 'n',
  o: '0 ó',
  q: 'g',
  s: '5',
  u: 'v ú ü',
  v: 'u',
  w: 'vv',
}
const PAIRS: Readonly<Record<string, string>> = { rn: 'm', cl: 'd', vv: 'w' }
const WORDS = ['login', 'www', 'chile', 'pago', 'zorro']

/**
 * For tests: names that could be registered to imitate this one, each kind of change that the usual generators of
 * such names know, written down once more. Only those that .cl allows.
 */
export function* variants(name: string): Generator<string> {
  for (const text of all(name)) if (parseLabel(text).ok && !text.startsWith('xn--')) yield text
}

function* all(name: string): Generator<string> {
  for (let i = 0; i <= name.length; i++) {
    const [left, right] = [name.slice(0, i), name.slice(i)]
    const rest = right.slice(1)
    const letter = right.slice(0, 1)
    // Insertion, addition, repetition, hyphenation.
    for (const other of `${LETTERS}-ñ`) yield left + other + right
    yield left + letter + right
    if (letter === '') continue
    // Omission, transposition, replacement by any letter: of the next key, vowel or bit.
    yield left + rest
    yield left + rest.slice(0, 1) + letter + rest.slice(1)
    for (const other of LETTERS) yield left + other + rest
    // Plural in the middle.
    yield `${left}${letter}s${rest}`
    // What looks alike, once and twice.
    for (const once of alike(name, i)) {
      yield once
      if (name.length > 4) for (let j = 0; j < once.length; j++) yield* alike(once, j)
    }
    // What a subdomain may look like.
    if (i > 0 && i < name.length - 2 && !`${left.at(-1)}${letter}`.includes('-')) yield right
  }
  for (const word of WORDS) {
    yield* [`${name}-${word}`, `${word}-${name}`]
    if (name.length > 3 || word !== 'zorro') yield* [name + word, word + name]
  }
}

function* alike(name: string, i: number): Generator<string> {
  const letter = name[i] ?? ''
  for (const other of LOOK_ALIKES[letter]?.split(' ') ?? [])
    yield name.slice(0, i) + other + name.slice(i + 1)
  const joined = PAIRS[name.slice(i, i + 2)]
  if (joined !== undefined) yield name.slice(0, i) + joined + name.slice(i + 2)
}
