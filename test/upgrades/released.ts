import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { newDatabase, type TestDatabase } from '../support/engine.ts'
import { runStatement } from '../support/postgres.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/schemas/', import.meta.url))

/** The schema of each release, frozen with data as its own code stored it. Dumps are never made again. */
export const RELEASED = ['022'] as const

export const NEWEST = RELEASED[RELEASED.length - 1] ?? RELEASED[0]

type Engine = 'sqlite' | 'postgres'

type Value = string | number | null

/** A statement that a version runs, as text for each engine, and values for it. */
export type Statement = Readonly<Record<Engine, string>> &
  (
    | { readonly values: readonly Value[] }
    | {
        /** Runs on PostgreSQL before a batch. */
        readonly lock?: string
        readonly constants: readonly Value[]
        readonly rows: readonly (readonly Value[])[]
      }
  )

/** In the order in which they run. */
export type Statements = Readonly<Record<string, Statement>>

export async function toStatements(version: string): Promise<Statements> {
  const statements: Statements = JSON.parse(
    await readFile(join(FOLDER, `${version}.statements.json`), 'utf8'),
  )
  return statements
}

/** Makes `catalejo.db` in the folder. @returns its path */
export async function oldSqlite(version: string, folder: string): Promise<string> {
  const path = join(folder, 'catalejo.db')
  const db = new DatabaseSync(path)
  db.exec(await readFile(join(FOLDER, `${version}.sqlite.sql`), 'utf8'))
  db.close()
  return path
}

export async function oldPostgres(version: string): Promise<TestDatabase> {
  const made = await newDatabase()
  await runStatement(made.url, await readFile(join(FOLDER, `${version}.postgres.sql`), 'utf8'))
  return made
}
