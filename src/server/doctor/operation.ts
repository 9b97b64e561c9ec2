import { createAccounts } from '../../accounts/index.ts'
import { feedStatuses } from '../../domainwatch/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { countOf } from '../../lib/text.ts'
import { formatDuration } from '../../lib/units.ts'
import { lastRuns, type RunKind } from '../../operations/transfer/instance.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Config } from '../config/config.ts'
import { fail, ok, problemsOr, warn, type Check, type Result } from './finding.ts'
import { deadDestinations } from './queries.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const MINUTE = 60_000
/** An expired key that was used this long before it ended is missed by someone. */
const RECENTLY_USED = 30 * DAY

/** What has to happen regularly: lists, messages, keys, backups. */
export function operationChecks(config: Config, database: Database, clock: Clock): readonly Check[] {
  return [
    { name: 'feeds', run: () => checkFeeds(config, database, clock) },
    { name: 'watches', run: () => checkWatches(database) },
    { name: 'keys', run: () => checkKeys(database, clock) },
    { name: 'backups', run: () => checkRuns(config, database, clock) },
  ]
}

async function checkFeeds({ feeds }: Config, database: Database, clock: Clock): Promise<readonly Result[]> {
  const problems: Result[] = []
  for (const { feed, isStale, source, state } of await feedStatuses(database, feeds, clock.now())) {
    const name = `feed ${feed.name}`
    if (state !== undefined && state.failures > 0)
      problems.push(
        fail(
          `${name} failed ${countOf(state.failures, 'time')}: ${state.error ?? ''}`,
          `curl -I '${feed.url}'`,
        ),
      )
    else if (isStale)
      problems.push(
        fail(`${name} was not fetched for three intervals`, 'search the log for the name of the feed'),
      )
    if (state?.records_read === 0)
      problems.push(fail(`the last list of ${name} was empty`, `look at ${feed.url}`))
    const gapTo = source?.gap_to ?? null
    if (gapTo !== null && clock.now() - gapTo < 7 * DAY)
      problems.push(
        warn(
          `${name} has a gap until ${timeText(gapTo)}: names may have come and gone meanwhile`,
          `fetch it more often than its window of a ${feed.window}`,
        ),
      )
  }
  return problemsOr(
    problems,
    feeds.length === 0 ? 'none' : `${countOf(feeds.length, 'feed')} fetched in time`,
  )
}

async function checkWatches(database: Database): Promise<readonly Result[]> {
  const dead = await database.all(deadDestinations())
  return problemsOr(
    dead.map(({ channel, watch_id }) =>
      warn(
        `the watch ${watch_id} no longer delivers to its ${channel}`,
        'correct the address, or test the watch in the console: either resumes it',
      ),
    ),
    'every destination accepts its messages',
  )
}

async function checkKeys(database: Database, clock: Clock): Promise<readonly Result[]> {
  const keys = await createAccounts(database, clock).keys()
  const isMissed = ({ expiresAt, revoked_at, used_at }: (typeof keys)[number]) =>
    expiresAt !== null &&
    expiresAt <= clock.now() &&
    revoked_at === null &&
    used_at !== null &&
    expiresAt - used_at < RECENTLY_USED
  const expired = keys
    .filter(isMissed)
    .map(({ account, expiresAt, id, service }) =>
      warn(
        `the key ${id} of «${account}» expired at ${timeText(expiresAt ?? 0)} while it was in use`,
        `catalejo key create --account '${account}' --service ${service}; or catalejo key revoke ${id}`,
      ),
    )
  return problemsOr(expired, 'no key in use has expired')
}

/** How old the last success may be. A trial takes long, so it is rarer. */
const AGES = { backup: 2 * DAY, check: 31 * DAY, drill: 92 * DAY, verify: 31 * DAY } satisfies Record<
  RunKind,
  number
>
const COMMANDS = {
  backup: 'catalejo backup create',
  check: 'catalejo backup check',
  drill: 'catalejo backup drill',
  verify: 'catalejo verify',
} satisfies Record<RunKind, string>
const KINDS = ['backup', 'check', 'drill', 'verify'] as const satisfies readonly RunKind[]

async function checkRuns({ backupTo }: Config, database: Database, clock: Clock): Promise<readonly Result[]> {
  const runs = new Map((await lastRuns(database)).map((run) => [run.kind, run]))
  // The service may have the setting, and this command not.
  const areBackedUp = backupTo !== undefined || runs.has('backup')
  const missing = warn(
    'there are no regular backups',
    'set --backup-to, and run catalejo backup drill after the first one',
  )
  const found = KINDS.filter((kind) => areBackedUp || runs.has(kind)).map((kind) => {
    const run = runs.get(kind)
    if (run === undefined)
      return kind === 'backup'
        ? fail('no backup was made yet', COMMANDS.backup)
        : warn(`no ${kind} was run yet`, COMMANDS[kind])
    if (run.error !== null) {
      // A damaged backup stays damaged.
      const mend = kind === 'check' ? `${COMMANDS.backup}, then ${COMMANDS.check}` : COMMANDS[kind]
      return fail(`the last ${kind} failed: ${run.error}`, mend)
    }
    const age = clock.now() - (run.succeeded_at ?? run.attempted_at)
    if (age <= AGES[kind]) {
      const unit = age < HOUR ? MINUTE : HOUR
      return ok(
        `the last ${kind} ended well ${formatDuration(Math.max(0, Math.floor(age / unit) * unit))} ago`,
      )
    }
    const text = `the last ${kind} is ${Math.floor(age / DAY)} days old`
    return kind === 'backup'
      ? fail(text, `${COMMANDS.backup}; the log says why the daily one does not run`)
      : warn(text, COMMANDS[kind])
  })
  return areBackedUp ? found : [missing, ...found]
}

const timeText = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ').concat(' UTC')
