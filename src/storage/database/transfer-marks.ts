/**
 * Marks that a copy or a backup leaves in the database for other processes: an unfinished copy, which no service may
 * serve, and a running backup, whose images must not be removed.
 */
import type { Database, Reader } from './database.ts'
import { sql } from './sql.ts'

/**
 * State of a database that was copied from another. `unfinished`: no service may open it. `finished`: complete and not
 * served since, so it can still be updated from its source. Undefined: an instance of its own.
 */
export type CopyState = 'unfinished' | 'finished'

const COPY = 'copy '
const BACKUP = 'backup'
const PROBE = 'write probe'

const moveNames = () => sql<{ name: string }>`SELECT name FROM moves ORDER BY name`
const moveNamed = (name: string) => sql<{ until: number }>`SELECT until FROM moves WHERE name = ${name}`
const setMove = (name: string, until: number) => sql`
  INSERT INTO moves (name, until) VALUES (${name}, ${until})
  ON CONFLICT (name) DO UPDATE SET until = excluded.until`
const endMove = (name: string) => sql`DELETE FROM moves WHERE name = ${name}`

export async function copyState(reader: Reader): Promise<CopyState | undefined> {
  const names = (await reader.all(moveNames())).map(({ name }) => name)
  return (['unfinished', 'finished'] as const).find((state) => names.includes(COPY + state))
}

/** Sets the state; undefined makes the database an instance of its own. */
export async function setCopyState(database: Database, state: CopyState | undefined): Promise<void> {
  await database.transaction(async (tx) => {
    for (const other of ['unfinished', 'finished'] as const) {
      if (other !== state) await tx.run(endMove(COPY + other))
    }
    if (state !== undefined) await tx.run(setMove(COPY + state, 0))
  })
}

/** Returns the version of the schema. */
export async function schemaOf(database: Database): Promise<number> {
  return Number((await database.first(database.dialect.schemaVersion))?.version)
}

/** Sets a mark of any name, to find out whether two addresses lead to the same database. */
export async function mark(database: Database, name: string, until = 0): Promise<void> {
  await database.transaction((tx) => tx.run(setMove(name, until)))
}

/**
 * Resolves when a write was committed.
 * @param now differs from the previous one, because writing an unchanged row writes nothing
 */
export const probeWrite = (database: Database, now: number): Promise<void> => mark(database, PROBE, now)

export async function isMarked(reader: Reader, name: string): Promise<boolean> {
  return (await reader.first(moveNamed(name))) !== undefined
}

export async function unmark(database: Database, name: string): Promise<void> {
  await database.transaction((tx) => tx.run(endMove(name)))
}

/**
 * Returns until when a backup forbids the removal of images' bytes; undefined if none does.
 * Ask after making sure that no record refers to the bytes. A backup sets its hold before it takes its snapshot of the
 * records, so either the hold is visible here, or the snapshot does not contain the record.
 * @param now milliseconds since 1970
 */
export async function heldUntil(reader: Reader, now: number): Promise<number | undefined> {
  const hold = await reader.first(moveNamed(BACKUP))
  return hold !== undefined && hold.until > now ? hold.until : undefined
}

/**
 * Forbids removals until a time.
 * @returns undefined on success, else until when another backup forbids them
 */
export function beginHold(database: Database, now: number, until: number): Promise<number | undefined> {
  return database.transaction(async (tx) => {
    const other = await tx.first(sql<{ until: number }>`${moveNamed(BACKUP)} ${database.dialect.forUpdate}`)
    if (other !== undefined && other.until > now) return other.until
    await tx.run(setMove(BACKUP, until))
    return undefined
  })
}

/** Extends the hold. */
export const prolongHold = (database: Database, until: number): Promise<void> => mark(database, BACKUP, until)

export const endHold = (database: Database): Promise<void> => unmark(database, BACKUP)
