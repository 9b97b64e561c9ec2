import type { Database } from '../../storage/database/database.ts'
import { rowValues } from '../../storage/database/batch.ts'
import type { Dictionary } from './dictionary.ts'
import { toColumn } from '../tags.ts'
import * as queries from './queries.ts'

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
