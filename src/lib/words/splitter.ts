import { letterOf, NO_LETTER, NO_WORD, type WordTrie } from './trie.ts'

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
      const letter = letterOf(text.charCodeAt(at++))
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
