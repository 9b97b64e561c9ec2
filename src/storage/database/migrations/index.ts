import { postgres } from './001-initial/postgres.ts'
import { sqlite } from './001-initial/sqlite.ts'
import { decisions } from './014-decisions.ts'
import { claims } from './015-claims.ts'
import { watchDestinations } from './016-watch-destinations.ts'
import { dnsChecks } from './017-dns-checks.ts'
import { words } from './018-words.ts'
import { watchDeliveries } from './020-watch-deliveries.ts'
import { feedStates } from './021-feed-states.ts'
import { claimsInPlace } from './022-claims-in-place.ts'
import { secondRelease } from './045-second-release/index.ts'

/** One step of the schema. A released step never changes. */
export interface Migration {
  /** The version that the schema has afterwards. */
  readonly version: number
  readonly sqlite: string
  readonly postgres: string
}

/** The oldest schema that is upgraded. Versions 1 to 12 were never released. */
const FIRST_VERSION = 13
/** The last commit that upgrades databases of the versions before. */
export const UPGRADING_COMMIT = 'fdb3bef'

/** In order of their versions. */
export const migrations: readonly Migration[] = [
  { version: FIRST_VERSION, sqlite, postgres },
  decisions,
  claims,
  watchDestinations,
  dnsChecks,
  words,
  watchDeliveries,
  feedStates,
  claimsInPlace,
  secondRelease,
]

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

export const isUnreleased = (version: number): boolean => version > 0 && version < FIRST_VERSION

/** @throws if a database is at a version from before the first release */
export function assertUpgradable(version: number): void {
  if (!isUnreleased(version)) return
  throw new Error(
    `the database is at schema ${version}, from before release 0.1.0: start it once with commit ${UPGRADING_COMMIT} of ` +
      `Catalejo, which upgrades it to schema ${FIRST_VERSION}, then with this version`,
  )
}
