import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { makeDatabase, type TestDatabase } from '../support/engine.ts'
import { runStatement } from '../support/postgres.ts'

const FOLDER = fileURLToPath(new URL('../fixtures/schemas/', import.meta.url))

/**
 * The released versions of the schema, each frozen with data as that version's own code stored it. Dumps are never made
 * again: each release adds its newest version.
 */
export const RELEASED = ['013'] as const

/** A version from before the first release. */
export const UNRELEASED = '001'

type Engine = 'sqlite' | 'postgres'

/** Statements that a version runs, as text for each engine. */
export type Statements = Readonly<Record<string, Readonly<Record<Engine | 'lock', string>>>>

export async function statementsOf(version: string): Promise<Statements> {
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

export async function oldPostgres(version: string, server: string, name: string): Promise<TestDatabase> {
  const made = await makeDatabase(server, name)
  await runStatement(made.url, await readFile(join(FOLDER, `${version}.postgres.sql`), 'utf8'))
  return made
}
