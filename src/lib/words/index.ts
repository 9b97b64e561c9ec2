/** Letters that words are made of: a to z and ñ. The other letters of Spanish are compared without their accents. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzñ'
const ACCENTED = { á: 'a', é: 'e', í: 'i', ó: 'o', ú: 'u', ü: 'u' }

const NO_LETTER = 255

/** By Latin-1 code, the index of a letter in the alphabet. */
const LETTER_OF = new Uint8Array(256).fill(NO_LETTER)
for (const [index, letter] of [...LETTERS].entries()) LETTER_OF[letter.charCodeAt(0)] = index
for (const [letter, plain] of Object.entries(ACCENTED)) {
  LETTER_OF[letter.charCodeAt(0)] = LETTERS.indexOf(plain)
}

/** The index of a letter, or `NO_LETTER`. */
const getLetter = (code: number): number => LETTER_OF[code] ?? NO_LETTER

/** Characters of a word. */
const MAX_WORD = 31
/** The cost of a prefix that is not a word. */
const NO_WORD = 0xffff_ffff

/**
 * A set of words with their costs, in memory that threads share. The nodes are in breadth-first order, so that the children
 * of one are neighbours: `masks` has a bit for each letter that follows, `firsts` the first child, in the order of letters.
 */
export interface WordTrie {
  readonly masks: Uint32Array
  readonly firsts: Uint32Array
  readonly costs: Uint32Array
}

/**
 * @param words the most frequent first: the later, the higher the cost. Words that are too long or have other
 *   characters than letters are skipped.
 */
export function buildTrie(words: Iterable<string>): WordTrie {
  const given = [...words]
  const costs = new Map<string, number>()
  for (const [rank, word] of given.entries()) {
    const key = keyOf(word)
    if (key !== undefined && !costs.has(key)) costs.set(key, getCost(rank, given.length))
  }
  return packed([...costs.keys()].toSorted(), costs)
}

/**
 * The negative logarithm of a word's probability by Zipf's law, in thousandths: sums of whole numbers are exact.
 * @param rank 0 for the most frequent of `count` words
 */
export function getCost(rank: number, count: number): number {
  return Math.round(1_000 * Math.log((rank + 1) * Math.log(count + 2)))
}

/**
 * Returns a word with each letter replaced by its index, so that keys sort by letters; undefined if it cannot be in
 * a trie.
 */
function keyOf(word: string): string | undefined {
  if (word === '' || word.length > MAX_WORD) return undefined
  let key = ''
  for (let at = 0; at < word.length; at++) {
    const letter = getLetter(word.charCodeAt(at))
    if (letter === NO_LETTER) return undefined
    key += String.fromCharCode(letter)
  }
  return key
}

/** A node of the trie: a range of keys with a common prefix of `depth` letters. */
interface Node {
  readonly from: number
  readonly to: number
  readonly depth: number
}

/** @param keys sorted, each once */
function packed(keys: readonly string[], costOfKey: ReadonlyMap<string, number>): WordTrie {
  const nodes: Node[] = [{ from: 0, to: keys.length, depth: 0 }]
  const masks: number[] = []
  const firsts: number[] = []
  const costs: number[] = []
  for (const { from, to, depth } of nodes) {
    const [shortest = ''] = keys.slice(from, from + 1)
    const isWord = from < to && shortest.length === depth
    costs.push(isWord ? (costOfKey.get(shortest) ?? NO_WORD) : NO_WORD)
    firsts.push(nodes.length)
    let mask = 0
    for (let start = isWord ? from + 1 : from; start < to;) {
      const letter = keys[start]?.charCodeAt(depth) ?? 0
      let end = start + 1
      while (end < to && keys[end]?.charCodeAt(depth) === letter) end++
      mask |= 1 << letter
      nodes.push({ from: start, to: end, depth: depth + 1 })
      start = end
    }
    masks.push(mask)
  }
  return { masks: sharedCopy(masks), firsts: sharedCopy(firsts), costs: sharedCopy(costs) }
}

function sharedCopy(values: readonly number[]): Uint32Array {
  const array = new Uint32Array(new SharedArrayBuffer(values.length * Uint32Array.BYTES_PER_ELEMENT))
  array.set(values)
  return array
}

/** Characters of a text. */
const MAX_TEXT = 63
const HYPHEN = 0x2d
const NEVER = 0x7fff_ffff

/**
 * Splits texts without spaces into words (Viterbi): minimizes the sum of costs; ties go to the fewest words, then
 * to the longest last word, and so on towards the beginning. Hyphens separate words. A text that does not consist
 * of words throughout is not split.
 */
class WordSplitter {
  readonly #trie: WordTrie
  /** Up to each position: the least cost, the words of the split that has it, and where its last word begins. */
  readonly #costs = new Int32Array(MAX_TEXT + 1)
  readonly #counts = new Uint8Array(MAX_TEXT + 1)
  readonly #starts = new Uint8Array(MAX_TEXT + 1)

  constructor(trie: WordTrie) {
    this.#trie = trie
  }

  /** Returns the words of a text, as written; empty if it cannot be split. */
  split(text: string): readonly string[] {
    if (!this.#solve(text)) return []
    const words: string[] = []
    for (let to = text.length; to > 0;) {
      const from = this.#starts[to] ?? 0
      if (text.charCodeAt(from) !== HYPHEN) words.push(text.slice(from, to))
      to = from
    }
    return words.reverse()
  }

  /** Finds the best split of every prefix, the shortest first. @returns whether the whole text has one */
  #solve(text: string): boolean {
    const { length } = text
    if (length === 0 || length > MAX_TEXT) return false
    this.#costs.fill(NEVER, 1, length + 1)
    this.#costs[0] = 0
    this.#counts[0] = 0
    for (let from = 0; from < length; from++) {
      const cost = this.#costs[from] ?? NEVER
      if (cost === NEVER) continue
      if (text.charCodeAt(from) === HYPHEN) this.#reach(from + 1, cost, this.#counts[from] ?? 0, from)
      else this.#extend(text, from, cost)
    }
    return this.#costs[length] !== NEVER && (this.#counts[length] ?? 0) > 0
  }

  /** Tries all words that begin at a position. */
  #extend(text: string, from: number, cost: number): void {
    const { masks, firsts, costs } = this.#trie
    const count = (this.#counts[from] ?? 0) + 1
    for (let node = 0, at = from; at < text.length;) {
      const letter = getLetter(text.charCodeAt(at++))
      if (letter === NO_LETTER) return
      const mask = masks[node] ?? 0
      const bit = 1 << letter
      if ((mask & bit) === 0) return
      node = (firsts[node] ?? 0) + bitCount(mask & (bit - 1))
      const own = costs[node] ?? NO_WORD
      if (own !== NO_WORD) this.#reach(at, cost + own, count, from)
    }
  }

  /** Among equal splits, the first one found has the longest last word. */
  #reach(to: number, cost: number, count: number, from: number): void {
    const known = this.#costs[to] ?? NEVER
    if (cost > known || (cost === known && count >= (this.#counts[to] ?? 0))) return
    this.#costs[to] = cost
    this.#counts[to] = count
    this.#starts[to] = from
  }
}

/** Returns a function that splits into these words. Not to be shared between threads. */
export function splitBy(trie: WordTrie): (text: string) => readonly string[] {
  const splitter = new WordSplitter(trie)
  return (text) => splitter.split(text)
}

/** The number of bits that are set (Warren, Hacker's Delight, 5-1). */
function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x5555_5555)
  bits = (bits & 0x3333_3333) + ((bits >>> 2) & 0x3333_3333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24
}
