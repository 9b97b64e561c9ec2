import type { Dialect } from '../../storage/database/dialect.ts'
import { limit, raw, sql } from '../../storage/database/sql.ts'
import { withNames } from '../history/queries.ts'

export const JOB_KINDS = ['import', 'bulk', 'undo'] as const
export type JobKind = (typeof JOB_KINDS)[number]
export const BULK_KINDS = ['bulk', 'undo'] as const

/** `receiving` its file, `waiting` for another job of the account, `running`, or how it ended. */
export type JobState = 'receiving' | 'waiting' | 'running' | 'done' | 'failed' | 'stopped'

export interface JobRow {
  readonly id: string
  readonly account_id: number
  readonly kind: JobKind
  readonly state: JobState
  /** Times in milliseconds since 1970. */
  readonly created_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  /** JSON of what was asked for, and of what is done. */
  readonly request: string
  readonly progress: string
  /** Key of its file in the store of files. */
  readonly file: string | null
  /** Why it failed, in Spanish. */
  readonly error: string | null
}

/** A receiver has died if it was not heard of for this time. */
const SILENCE_MS = 60_000

const SHOWN = raw(
  'id, account_id, kind, state, created_at, started_at, ended_at, request, progress, file, error',
)

export const countOpen = (account: number) => sql<{ count: number }>`
  SELECT count(*) AS count FROM jobs WHERE account_id = ${account} AND ended_at IS NULL`

export interface NewJob extends Pick<JobRow, 'id' | 'account_id' | 'file'> {
  readonly kind: JobKind
  readonly state: JobState
  readonly request: string
  readonly progress: string
}

export const insertJob = (dialect: Dialect, job: NewJob, now: number) => sql`
  INSERT INTO jobs (id, account_id, kind, state, created_at, heard_at, request, progress, file)
  VALUES (${job.id}, ${job.account_id}, ${job.kind}, ${job.state}, ${now}, ${dialect.now}, ${job.request}, ${job.progress}, ${job.file})`

/** The receiver of its file is alive. */
export const noteReceiver = (dialect: Dialect, id: string) => sql`
  UPDATE jobs SET heard_at = ${dialect.now} WHERE id = ${id} AND state = 'receiving'`

/** Changes a row unless the job was stopped. */
export const noteReceived = (id: string, request: string) => sql`
  UPDATE jobs SET state = 'waiting', request = ${request} WHERE id = ${id} AND state = 'receiving'`

/** Removes a job whose file does not arrive. One that was stopped meanwhile stays listed. */
export const deleteUnreceived = (id: string) => sql`DELETE FROM jobs WHERE id = ${id} AND state = 'receiving'`

/** Ends jobs whose receivers have died. */
export const failUnreceived = (dialect: Dialect, now: number, error: string) => sql`
  UPDATE jobs SET state = 'failed', ended_at = ${now}, error = ${error}
  WHERE state = 'receiving' AND heard_at < ${dialect.now} - ${SILENCE_MS}`

export const jobNamed = (account: number, id: string) => sql<JobRow>`
  SELECT ${SHOWN} FROM jobs WHERE id = ${id} AND account_id = ${account}`

/** The jobs of an account, newest first. */
export const toJobs = (account: number, kinds: readonly JobKind[], count: number) => sql<JobRow>`
  SELECT ${SHOWN} FROM jobs WHERE account_id = ${account} AND kind IN (${raw(kinds.map((kind) => `'${kind}'`).join(', '))})
  ORDER BY created_at DESC, id ${limit(count)}`

/** The jobs to run, in their order. */
export const runnableJobs = () => sql<JobRow>`
  SELECT ${SHOWN} FROM jobs WHERE state IN ('running', 'waiting') ORDER BY created_at, id`

/** The only run that may change the progress of the job is this one. Changes a row unless the job has ended. */
export const beginRun = (id: string, runner: string, now: number) => sql`
  UPDATE jobs SET state = 'running', runner = ${runner}, started_at = COALESCE(started_at, CAST(${now} AS BIGINT))
  WHERE id = ${id} AND state IN ('waiting', 'running')`

/** Changes a row unless the job has ended or another run has begun. */
export const saveProgress = (id: string, runner: string, progress: string) => sql`
  UPDATE jobs SET progress = ${progress} WHERE id = ${id} AND runner = ${runner} AND state = 'running'`

export const endRun = (id: string, runner: string, state: JobState, error: string | null, now: number) => sql`
  UPDATE jobs SET state = ${state}, error = ${error}, ended_at = ${now}
  WHERE id = ${id} AND runner = ${runner} AND state = 'running'`

export const stopJob = (id: string, now: number) => sql`
  UPDATE jobs SET state = 'stopped', ended_at = ${now} WHERE id = ${id} AND ended_at IS NULL`

/** A file is needed until its jobs have ended, and that of a bulk change as long as it can be undone. */
const isUnneeded = (undoableSince: number) => sql`file IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM jobs AS other WHERE other.file = jobs.file
      AND (other.ended_at IS NULL OR (other.kind <> 'import' AND other.ended_at > ${undoableSince})))`

export const unneededFiles = (undoableSince: number) => sql<{ file: string }>`
  SELECT DISTINCT file FROM jobs WHERE ${isUnneeded(undoableSince)}`

export const forgetFile = (file: string) => sql`UPDATE jobs SET file = NULL WHERE file = ${file}`

export const deleteEnded = (before: number) => sql`
  DELETE FROM jobs WHERE file IS NULL AND ended_at < ${before}`

/** Whether any job has to be ended, or something of one be removed. */
export const anyEnded = (dialect: Dialect, endedBefore: number, undoableSince: number) => sql<{
  found: number
}>`
  SELECT 1 AS found FROM jobs WHERE (state = 'receiving' AND heard_at < ${dialect.now} - ${SILENCE_MS})
    OR (${isUnneeded(undoableSince)}) OR ended_at < ${endedBefore} LIMIT 1`

/**
 * The first change of each of these records by an account, of the ids after one up to another: what `toChange` reads. A later one is
 * not of the job that the ids are of.
 */
export const firstChanges = (
  dialect: Dialect,
  account: number,
  names: readonly string[],
  first: number,
  last: number,
) => sql`
  ${withNames(dialect, names)}
  SELECT changes.id, at, topic, kind, key, account_id, before, after FROM item CROSS JOIN changes
  WHERE changes.id = (
    SELECT min(one.id) FROM changes AS one WHERE one.topic = 'domain' AND one.key = item.name
      AND one.account_id = ${account} AND one.id > ${first} AND one.id <= ${last})`
