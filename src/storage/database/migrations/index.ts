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
import { mailRecipients } from './023-mail-recipients.ts'
import { backupRuns } from './024-backup-runs.ts'
import { registryLists } from './025-registry-lists.ts'
import { lastAdds } from './026-last-adds.ts'
import { jobs } from './027-jobs.ts'
import { views } from './028-views.ts'
import { rules } from './029-rules.ts'
import { observedServers } from './031-observed-servers.ts'
import { uploadTickets } from './032-upload-tickets.ts'
import { statusTimes } from './033-status-times.ts'
import { imageEditing } from './034-image-editing.ts'
import { interest } from './035-interest.ts'
import { numbers } from './036-numbers.ts'
import { reminders } from './037-reminders.ts'
import { imageAliases } from './038-image-aliases.ts'
import { audit } from './039-audit.ts'
import { ticketUploads } from './040-ticket-uploads.ts'
import { imageBans } from './041-image-bans.ts'
import { imageDefinitions } from './042-image-definitions.ts'
import { imageHooks } from './043-image-hooks.ts'
import { imageTrash } from './044-image-trash.ts'
import { imageRestored } from './045-image-restored.ts'

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
  mailRecipients,
  backupRuns,
  registryLists,
  lastAdds,
  jobs,
  views,
  rules,
  observedServers,
  uploadTickets,
  statusTimes,
  imageEditing,
  interest,
  numbers,
  reminders,
  imageAliases,
  audit,
  ticketUploads,
  imageBans,
  imageDefinitions,
  imageHooks,
  imageTrash,
  imageRestored,
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
