import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { buildTrie, splitBy, type WordTrie } from '../../lib/words/index.ts'
import type { Database } from '../../storage/database/database.ts'
import { rowValues } from '../../storage/database/batch.ts'
import { toColumn } from '../tags.ts'
import * as queries from './queries.ts'

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
  /** Differs between dictionaries that may split a name differently. */
  readonly digest: string
  readonly #words: readonly string[]
  #trie: WordTrie | undefined
  #split: SplitName | undefined

  constructor(changes: readonly string[]) {
    const removed = new Set(changes.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1)))
    const added = changes.filter((entry) => !entry.startsWith('-') && !removed.has(entry))
    const words = builtInWords().filter((word) => !removed.has(word))
    this.#words = [...words.slice(0, RANK_OF_OWN), ...added, ...words.slice(RANK_OF_OWN)]
    this.digest = createHash('sha256').update(this.#words.join('\n')).digest('hex').slice(0, 16)
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

/** Names per transaction: other writers wait for some 20 ms. */
const BATCH = 2_000

/** Whether the database has the words of every name by this dictionary. */
export async function areNamesSplit(
  { first }: Pick<Database, 'first'>,
  { digest }: Pick<Dictionary, 'digest'>,
): Promise<boolean> {
  const row = await first(queries.splitBy())
  return row?.digest === digest
}

/** Splits the names of a small database immediately, so that a new database has words from the first request. */
export async function splitFewNames(database: Database, dictionary: Dictionary): Promise<void> {
  if (await areNamesSplit(database, dictionary)) return
  const names = await database.all(queries.namesAfter('', BATCH))
  if (names.length < BATCH) await splitNames(database, dictionary, new AbortController().signal)
}

/**
 * Splits all names again after the dictionary has changed. Names written in the meantime are split by their writer.
 * @returns the number of names
 */
export async function splitNames(
  database: Database,
  { digest, split }: Dictionary,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  for (let after = ''; !signal.aborted;) {
    const names = await database.scanner.all(queries.namesAfter(after, BATCH))
    const rows = names.map(({ name }) => rowValues(queries.setWords, { name, words: toColumn(split(name)) }))
    if (rows.length > 0) {
      const json = new Uint8Array(Buffer.from(JSON.stringify(rows)))
      await database.transaction((tx) => tx.runMany(queries.setWords, [], json))
    }
    count += names.length
    const last = names.at(-1)
    if (last === undefined || names.length < BATCH) {
      await database.transaction((tx) => tx.run(queries.setSplitBy(digest)))
      break
    }
    after = last.name
  }
  return count
}
