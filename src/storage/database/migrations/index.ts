import { postgres } from './022-first-release/postgres.ts'
import { sqlite } from './022-first-release/sqlite.ts'
import { secondRelease } from './045-second-release/index.ts'

/** One step of the schema. A released step never changes. */
export interface Migration {
  /** The version that the schema has afterwards. */
  readonly version: number
  readonly sqlite: string
  readonly postgres: string
}

/** In order of their versions, one for each release. */
export const migrations: readonly Migration[] = [{ version: 22, sqlite, postgres }, secondRelease]

/** The version of the schema that this program works with. */
export const SCHEMA: number = newest(migrations)

export function newest(steps: readonly Migration[]): number {
  return steps.at(-1)?.version ?? 0
}

/**
 * Returns the next step for a database.
 * @param current its version; 0 for an empty one
 * @param target no step goes past this version
 * @throws if no step leads from that version to this program's
 */
export function nextMigration(
  current: number,
  target: number,
  steps: readonly Migration[] = migrations,
): Migration | undefined {
  const known = newest(steps)
  if (current > known) throw new Error(newerThan(current, known))
  assertUpgradable(current)
  return steps.find(({ version }) => version > current && version <= target)
}

export const newerThan = (version: number, known = SCHEMA): string =>
  `the database is at schema ${version}, this version knows only ${known}`

/** Whether a database is at a version that no release has. */
export const isUnreleased = (version: number): boolean =>
  version > 0 && version < SCHEMA && migrations.every((step) => step.version !== version)

/** @throws if a database is at a version that no release has */
export function assertUpgradable(version: number): void {
  if (!isUnreleased(version)) return
  throw new Error(
    `the database is at schema ${version}, which no release has: if it is older than release 0.1.0, start that once, ` +
      'which upgrades it; else restore a backup of before',
  )
}
