import { randomBytes } from 'node:crypto'
import type { Database } from '../database.ts'
import { removeAllChanges, renewLog as renew } from './queries.ts'

/** Changes removed in one transaction. */
const BATCH = 10_000

/**
 * Makes the changes of a copy a log of its own, before anybody follows it: whoever comes with a cursor of where it was
 * copied from is told that he lost track, for what was written there since is not here.
 */
export async function renewLog(database: Database): Promise<void> {
  await database.transaction((tx) => tx.run(renew(randomBytes(6).toString('hex'))))
}

/** Forgets all changes, where they say only that records were copied here. Before anybody follows them. */
export async function clearChanges(database: Database): Promise<void> {
  while ((await database.transaction((tx) => tx.run(removeAllChanges(BATCH)))) === BATCH);
}
