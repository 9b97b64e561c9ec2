import { readFileSync } from 'node:fs'
import { buildTrie, splitBy, type WordTrie } from '../../lib/words/index.ts'

/** Returns the words of a name; none if it cannot be split. */
export type SplitName = (name: string) => readonly string[]

/** Spanish and English words by frequency, one per line. */
const WORDS = new URL('../../../assets/words/words.txt', import.meta.url)

/** Words of the operator rank after this many: brands and places are more relevant than rare words. */
const RANK_OF_OWN = 5_000

let builtIn: Dictionary | undefined

/**
 * Returns the words that names are split into. All services of a process share the dictionary without changes.
 * @param changes words to add to the built-in ones, or to remove if they begin with a hyphen
 */
export function readDictionary(changes: readonly string[]): Dictionary {
  if (changes.length > 0) return new Dictionary(changes)
  builtIn ??= new Dictionary([])
  return builtIn
}

/** The words that names are split into. Made by `readDictionary`. */
export class Dictionary {
  readonly #words: readonly string[]
  #trie: WordTrie | undefined
  #split: SplitName | undefined

  constructor(changes: readonly string[]) {
    const removed = new Set(changes.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1)))
    const added = changes.filter((entry) => !entry.startsWith('-') && !removed.has(entry))
    const words = builtInWords().filter((word) => !removed.has(word))
    this.#words = [...words.slice(0, RANK_OF_OWN), ...added, ...words.slice(RANK_OF_OWN)]
  }

  /** In shared memory, for splitters of other threads. Built on first use, because that takes some 0.1 s. */
  get trie(): WordTrie {
    this.#trie ??= buildTrie(this.#words)
    return this.#trie
  }

  /** Returns the words of a name; none if it cannot be split. */
  readonly split = (name: string): readonly string[] => {
    this.#split ??= splitBy(this.trie)
    return this.#split(name)
  }
}

/** The most frequent first. */
export function builtInWords(): readonly string[] {
  const lines = readFileSync(WORDS, 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}
