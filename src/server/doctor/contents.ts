import { createAccounts } from '../../accounts/index.ts'
import { feedStatuses } from '../../domainwatch/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { countOf } from '../../lib/text.ts'
import { formatDuration } from '../../lib/units.ts'
import { lastRuns, type RunKind } from '../../operations/transfer/instance.ts'
import type { Database } from '../../storage/database/database.ts'
import { SCHEMA } from '../../storage/database/migrations/index.ts'
import { schemaOf } from '../../storage/database/transfer-marks.ts'
import type { Config } from '../config/config.ts'
import { fail, ok, warn, type Check, type Look, type Result } from './finding.ts'
import { deadDestinations, serverState } from '../../operations/queries.ts'

/** Connections of one process besides those of the setting: LISTEN, a snapshot, a command. */
const FURTHER_CONNECTIONS = 4

/** The database and the store of images. */
export const storeChecks = (config: Config, database: Database): readonly Check[] => [
  { name: 'database', run: () => checkDatabase(config, database) },
  { name: 'pages of the database', run: () => checkPages(config, database) },
  { name: 'image store', run: () => checkImages(config) },
]

async function* checkDatabase(config: Config, database: Database): Look {
  const schema = await schemaOf(database)
  if (config.databaseUrl === '') return `SQLite, schema ${schema}`
  const state = await database.first(serverState())
  if (state === undefined) {
    yield fail('PostgreSQL does not report its state', 'see its log')
    return
  }
  const { connections, has_trigrams, max_connections, release } = state
  if (!has_trigrams)
    yield warn(
      'the extension pg_trgm is missing: a search of images by name scans all of them',
      'CREATE EXTENSION pg_trgm; then restart the service',
    )
  const wanted = config.databaseConnections + FURTHER_CONNECTIONS
  if (wanted > max_connections)
    yield fail(
      `the server accepts ${max_connections} connections, and this node may open ${wanted}`,
      'lower --database-connections, or raise max_connections',
    )
  else if (connections > 0.9 * max_connections)
    yield warn(
      `${connections} of ${max_connections} connections of the server are in use`,
      'lower --database-connections of each node, or raise max_connections',
    )
  return `PostgreSQL ${release}, schema ${schema}, ${connections} of ${max_connections} connections in use`
}

function restoreAdvice({ shown }: Config): string {
  const place = shown.find(({ name }) => name === 'CATALEJO_BACKUP_TO')?.value || 'PLACE'
  const word = /^[\w./-]+$/.test(place) ? place : `'${place}'`
  return `catalejo restore ${word} --data DIR, into an empty folder`
}

async function* checkPages(config: Config, database: Database): Look {
  for (const fault of (await database.check()).slice(0, 3))
    yield fail(`the database is damaged: ${fault}`, restoreAdvice(config))
  return 'no damage found'
}

async function* checkImages({ blobsUrl, data }: Config): Look {
  if (blobsUrl === undefined) return `files in ${data}`
  // Loaded on demand: the SDK is large.
  const { probeS3 } = await import('../../storage/blobs/s3/client.ts')
  const { hasConditionalWrites, hasVersioning } = await probeS3(blobsUrl)
  if (!hasConditionalWrites)
    yield fail(
      'the object store ignores If-None-Match: two instances could overwrite each other',
      'use a store with conditional writes, such as Amazon S3 or Ceph 18',
    )
  if (hasVersioning)
    yield warn(
      'the bucket keeps versions: deleted images stay there',
      'add a lifecycle rule that removes noncurrent versions',
    )
  return `bucket ${blobsUrl.bucket}, with conditional writes`
}

/** What a database that could not be opened means. */
export function unopened(config: Config, { message }: Error): Result {
  if (/is at schema \d+, this version needs/.test(message))
    return warn(
      message.replace(/: catalejo serve.*$/, ''),
      `start the service: it keeps a copy, and upgrades the database to schema ${SCHEMA}`,
    )
  if (/this version knows only/.test(message))
    return fail(message, 'install the newer version, or see "Go back" in docs/operations/upgrading.md')
  return fail(
    message,
    / is damaged /.test(message) ? restoreAdvice(config) : 'see docs/operations/troubleshooting.md',
  )
}

const DAY = 86_400_000
const HOUR = 3_600_000
const MINUTE = 60_000
/** An expired key that was used this long before it ended is missed by someone. */
const RECENTLY_USED = 30 * DAY

/** What has to happen regularly: lists, messages, keys, backups. */
export const operationChecks = (config: Config, database: Database, clock: Clock): readonly Check[] => [
  { name: 'feeds', run: () => checkFeeds(config, database, clock) },
  { name: 'watches', run: () => checkWatches(database) },
  { name: 'keys', run: () => checkKeys(database, clock) },
  { name: 'backups', run: () => checkRuns(config, database, clock) },
]

async function* checkFeeds({ feeds }: Config, database: Database, clock: Clock): Look {
  for (const { feed, isStale, source, state } of await feedStatuses(database, feeds, clock.now())) {
    const name = `feed ${feed.name}`
    if (state !== undefined && state.failures > 0)
      yield fail(
        `${name} failed ${countOf(state.failures, 'time')}: ${state.error ?? ''}`,
        `curl -I '${feed.url}'`,
      )
    else if (isStale)
      yield fail(`${name} was not fetched for three intervals`, 'search the log for the name of the feed')
    if (state?.records_read === 0) yield fail(`the last list of ${name} was empty`, `look at ${feed.url}`)
    const gapTo = source?.gap_to ?? null
    if (gapTo !== null && clock.now() - gapTo < 7 * DAY)
      yield warn(
        `${name} has a gap until ${timeText(gapTo)}: names may have come and gone meanwhile`,
        `fetch it more often than its window of a ${feed.window}`,
      )
  }
  return feeds.length === 0 ? 'none' : `${countOf(feeds.length, 'feed')} fetched in time`
}

async function* checkWatches(database: Database): Look {
  for (const { channel, watch_id } of await database.all(deadDestinations()))
    yield warn(
      `the watch ${watch_id} no longer delivers to its ${channel}`,
      'correct the address, or test the watch in the console: either resumes it',
    )
  return 'every destination accepts its messages'
}

async function* checkKeys(database: Database, clock: Clock): Look {
  for (const { account, expiresAt, id, revoked_at, service, used_at } of await createAccounts(
    database,
    clock,
  ).keys()) {
    if (expiresAt === null || expiresAt > clock.now() || revoked_at !== null) continue
    if (used_at !== null && expiresAt - used_at < RECENTLY_USED)
      yield warn(
        `the key ${id} of «${account}» expired at ${timeText(expiresAt)} while it was in use`,
        `catalejo key create --account '${account}' --service ${service}; or catalejo key revoke ${id}`,
      )
  }
  return 'no key in use has expired'
}

/** What has to be run, and how old the last success may be. A trial takes long, so it is rarer. */
const RUNS = {
  backup: { command: 'catalejo backup create', maxAgeMs: 2 * DAY },
  check: { command: 'catalejo backup check', maxAgeMs: 31 * DAY },
  drill: { command: 'catalejo backup drill', maxAgeMs: 92 * DAY },
  verify: { command: 'catalejo verify', maxAgeMs: 31 * DAY },
} satisfies Record<RunKind, unknown>
const KINDS = ['backup', 'check', 'drill', 'verify'] as const satisfies readonly RunKind[]

async function* checkRuns({ backupTo }: Config, database: Database, clock: Clock): Look {
  const runs = new Map((await lastRuns(database)).map((run) => [run.kind, run]))
  // The service may have the setting, and this command not.
  const areBackedUp = backupTo !== undefined || runs.has('backup')
  if (!areBackedUp)
    yield warn(
      'there are no regular backups',
      'set --backup-to, and run catalejo backup drill after the first one',
    )
  for (const kind of KINDS) {
    const run = runs.get(kind)
    const { command, maxAgeMs } = RUNS[kind]
    if (run === undefined) {
      if (!areBackedUp) continue
      yield kind === 'backup'
        ? fail('no backup was made yet', command)
        : warn(`no ${kind} was run yet`, command)
      continue
    }
    const age = clock.now() - (run.succeeded_at ?? run.attempted_at)
    const unit = age < HOUR ? MINUTE : HOUR
    const text = `the last ${kind} is ${Math.floor(age / DAY)} days old`
    // A damaged backup stays damaged.
    if (run.error !== null)
      yield fail(
        `the last ${kind} failed: ${run.error}`,
        kind === 'check' ? `${RUNS.backup.command}, then ${command}` : command,
      )
    else if (age <= maxAgeMs)
      yield ok(
        `the last ${kind} ended well ${formatDuration(Math.max(0, Math.floor(age / unit) * unit))} ago`,
      )
    else if (kind === 'backup') yield fail(text, `${command}; the log says why the daily one does not run`)
    else yield warn(text, command)
  }
  return
}

const timeText = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC')
