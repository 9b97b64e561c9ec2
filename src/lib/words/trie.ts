/** Letters that words are made of: a to z and ñ. The other letters of Spanish are compared without their accents. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzñ'
const ACCENTED = { á: 'a', é: 'e', í: 'i', ó: 'o', ú: 'u', ü: 'u' }

export const NO_LETTER = 255

/** By Latin-1 code, the index of a letter in the alphabet. */
const LETTER_OF = new Uint8Array(256).fill(NO_LETTER)
for (const [index, letter] of [...LETTERS].entries()) LETTER_OF[letter.charCodeAt(0)] = index
for (const [letter, plain] of Object.entries(ACCENTED)) {
  LETTER_OF[letter.charCodeAt(0)] = LETTERS.indexOf(plain)
}

/** The index of a letter, or `NO_LETTER`. */
export const letterOf = (code: number): number => LETTER_OF[code] ?? NO_LETTER

/** Characters of a word. */
const MAX_WORD = 31
/** The cost of a prefix that is not a word. */
export const NO_WORD = 0xffff_ffff

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
    if (key !== undefined && !costs.has(key)) costs.set(key, costOf(rank, given.length))
  }
  return packed([...costs.keys()].toSorted(), costs)
}

/**
 * The negative logarithm of a word's probability by Zipf's law, in thousandths: sums of whole numbers are exact.
 * @param rank 0 for the most frequent of `count` words
 */
export function costOf(rank: number, count: number): number {
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
    const letter = letterOf(word.charCodeAt(at))
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
