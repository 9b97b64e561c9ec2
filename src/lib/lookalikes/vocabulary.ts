/** What the text next to a brand is, the most indicative first. */
export const Adjacent = {
  nothing: 0,
  /** Phishing keywords: `login`, `pago`, `soportetecnico`. */
  keywords: 1,
  /** Anything that a hyphen separates from the brand. */
  hyphenated: 2,
  /** Words of the dictionary, and numbers. */
  words: 3,
  /** Anything else of two letters or more. */
  text: 4,
  /** A single letter that is not a word. */
  letter: 5,
} as const
export type Adjacent = (typeof Adjacent)[keyof typeof Adjacent]

/** Bits: what a text can be split into. */
const WORD = 1
const KEYWORD = 2

const HYPHEN = '-'
/** Shorter words are looked up one by one, longer ones by the lengths of words with the same first, or last, letters. */
const STEM = 4
const MAX_WORD = 31

interface Tables {
  readonly kinds: ReadonlyMap<string, number>
  /** By the first letters of words, and by the last: a bit for each length. */
  readonly lengthsByStart: ReadonlyMap<string, number>
  readonly lengthsByEnd: ReadonlyMap<string, number>
}

/** Classifies the texts before and after a brand by splitting them into words. */
export class Vocabulary {
  readonly #words: Iterable<string>
  readonly #keywords: Iterable<string>
  #built: Tables | undefined

  /** @param keywords words that phishing names put next to a brand */
  constructor(words: Iterable<string>, keywords: Iterable<string>) {
    this.#words = words
    this.#keywords = keywords
  }

  /** Built on first use, because that takes some 30 ms and not everybody searches for lookalikes. */
  get #tables(): Tables {
    this.#built ??= buildTables(this.#words, this.#keywords)
    return this.#built
  }

  /** Returns, at `i`, what the first `i` characters of the name are to a brand that begins after them. */
  before(name: string): Uint8Array {
    return this.#classify(name, this.#tables.lengthsByStart, (text, from, to) => text.slice(from, to))
  }

  /** Returns, at `i`, what the characters from `i` on are to a brand that ends before them. */
  after(name: string): Uint8Array {
    const part: Part = (text, from, to) => text.slice(Math.max(0, text.length - to), text.length - from)
    return this.#classify(name, this.#tables.lengthsByEnd, part).reverse()
  }

  /** Returns whether the name consists of words other than this one. */
  isWords(name: string, other: string): boolean {
    const part: Part = (text, from, to) => text.slice(from, to)
    return (
      (this.#split(withoutAccents(name), this.#tables.lengthsByStart, part, other)[name.length] ?? 0) !== 0
    )
  }

  /** Returns, at `i`, what `i` characters are, from the end of the name that `part` and `lengthsByStem` count from. */
  #classify(name: string, lengthsByStem: ReadonlyMap<string, number>, part: Part): Uint8Array {
    const reached = this.#split(withoutAccents(name), lengthsByStem, part)
    for (let i = 1; i <= name.length; i++) reached[i] = classOf(reached[i] ?? 0, part(name, i - 1, i), i)
    reached[0] = Adjacent.nothing
    return reached
  }

  /** Returns, at `i`, what `i` characters of a text without accents can be split into, `except` not being a word. */
  #split(text: string, lengthsByStem: ReadonlyMap<string, number>, part: Part, except?: string): Uint8Array {
    const { kinds: kindsOf } = this.#tables
    const reached = new Uint8Array(text.length + 1)
    reached[0] = WORD | KEYWORD
    for (let from = 0; from < text.length; from++) {
      const kinds = reached[from] ?? 0
      if (kinds === 0) continue
      const character = part(text, from, from + 1)
      if (character === HYPHEN) mark(reached, from + 1, kinds)
      if (isDigit(character)) mark(reached, from + 1, kinds & WORD)
      let lengths = lengthsByStem.get(part(text, from, from + STEM)) ?? 0
      for (let size = 2; size < STEM && from + size <= text.length; size++) lengths |= 1 << size
      for (; lengths !== 0; lengths &= lengths - 1) {
        const to = from + lowestBit(lengths)
        if (to > text.length) continue
        const word = part(text, from, to)
        if (word !== except) mark(reached, to, kinds & (kindsOf.get(word) ?? 0))
      }
    }
    return reached
  }
}

/** The characters between two distances from an end of a text. */
type Part = (text: string, from: number, to: number) => string

/** @param next the character of the text that is next to the brand */
function classOf(kinds: number, next: string, length: number): Adjacent {
  if ((kinds & KEYWORD) !== 0) return Adjacent.keywords
  if (next === HYPHEN) return Adjacent.hyphenated
  if (kinds !== 0) return Adjacent.words
  return length > 1 ? Adjacent.text : Adjacent.letter
}

const isDigit = (character: string) => character >= '0' && character <= '9'

function mark(reached: Uint8Array, at: number, kinds: number): void {
  reached[at] = (reached[at] ?? 0) | kinds
}

function buildTables(words: Iterable<string>, keywords: Iterable<string>): Tables {
  const kinds = new Map<string, number>()
  const lengthsByStart = new Map<string, number>()
  const lengthsByEnd = new Map<string, number>()
  const add = (word: string, kind: number) => {
    if (word.length > MAX_WORD) return
    kinds.set(word, kind)
    const bit = 1 << word.length
    addBit(lengthsByStart, word.slice(0, STEM), bit)
    addBit(lengthsByEnd, word.slice(-STEM), bit)
  }
  for (const word of words) add(word, WORD)
  for (const word of keywords) add(word, WORD | KEYWORD)
  return { kinds, lengthsByStart, lengthsByEnd }
}

function addBit(lengths: Map<string, number>, stem: string, bit: number): void {
  lengths.set(stem, (lengths.get(stem) ?? 0) | bit)
}

const lowestBit = (bits: number) => 31 - Math.clz32(bits & -bits)

const ACCENTED = /[áéíóúü]/g
const withoutAccents = (name: string) =>
  name.replaceAll(ACCENTED, (letter) => letter.normalize('NFD').charAt(0))
