/**
 * What others must know of a move or a backup, in the database that it concerns: a copy that is not finished, so that
 * nobody serves it; a backup under way, so that nobody removes what it still has to copy.
 */
import type { Database, Reader } from './database.ts'
import { sql } from './sql.ts'

/**
 * How far the copying into a database has come. `unfinished`: no service may stand on it. `finished`: whole, and nobody has
 * served it since, so it may still be brought up to date. None of both: it is an instance in its own right.
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

/** Undefined makes it an instance in its own right. */
export async function setCopyState(database: Database, state: CopyState | undefined): Promise<void> {
  await database.transaction(async (tx) => {
    for (const other of ['unfinished', 'finished'] as const) {
      if (other !== state) await tx.run(endMove(COPY + other))
    }
    if (state !== undefined) await tx.run(setMove(COPY + state, 0))
  })
}

/** The version of the schema that a database is at. */
export async function schemaOf(database: Database): Promise<number> {
  return Number((await database.first(database.dialect.schemaVersion))?.version)
}

/** Sets a mark of any name, for whoever has to find out whether two addresses are one database. */
export async function mark(database: Database, name: string): Promise<void> {
  await database.transaction((tx) => tx.run(setMove(name, 0)))
}

/** Resolves when a write was committed. @param now differs from the last one, for a row that stays as it is is not written */
export async function probeWrite(database: Database, now: number): Promise<void> {
  await database.transaction((tx) => tx.run(setMove(PROBE, now)))
}

export async function isMarked(reader: Reader, name: string): Promise<boolean> {
  return (await reader.first(moveNamed(name))) !== undefined
}

export async function unmark(database: Database, name: string): Promise<void> {
  await database.transaction((tx) => tx.run(endMove(name)))
}

/**
 * Until when a backup holds off the removal of images' bytes; undefined when none does.
 *
 * Whoever removes bytes asks this after he knows that no record names them any more. A backup sets its hold, and only then
 * takes its view of the records: so either the hold is seen here, or that view does not have the record.
 * @param now milliseconds since 1970
 */
export async function heldUntil(reader: Reader, now: number): Promise<number | undefined> {
  const hold = await reader.first(moveNamed(BACKUP))
  return hold !== undefined && hold.until > now ? hold.until : undefined
}

/**
 * Holds off removals.
 * @returns undefined when it does now, else until when another backup does
 */
export function beginHold(database: Database, now: number, until: number): Promise<number | undefined> {
  return database.transaction(async (tx) => {
    const other = await tx.first(sql<{ until: number }>`${moveNamed(BACKUP)} ${database.dialect.forUpdate}`)
    if (other !== undefined && other.until > now) return other.until
    await tx.run(setMove(BACKUP, until))
    return undefined
  })
}

/** Goes on holding. */
export async function prolongHold(database: Database, until: number): Promise<void> {
  await database.transaction((tx) => tx.run(setMove(BACKUP, until)))
}

export const endHold = (database: Database): Promise<void> => unmark(database, BACKUP)
