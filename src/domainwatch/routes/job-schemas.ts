import {
  array,
  constant,
  integer,
  nullable,
  object,
  optional,
  string,
  type JsonSchema,
} from '../../http/openapi/json-schema.ts'
import { missingParameter } from '../../http/errors.ts'
import { text } from '../../http/parameters.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { JobRow } from '../jobs/job.ts'

const MAX_ID_CHARACTERS = 40

export const jobId = text('ID of the job', MAX_ID_CHARACTERS)

/** @throws HttpError 400 */
export function requiredId(id: string | undefined): string {
  if (id === undefined || id === '') throw missingParameter('id')
  return id
}

/** States as answers show them: a job that waits for another one of its account runs, but `waiting` is 1. */
const SHOWN_STATES = ['receiving', 'running', 'done', 'failed', 'stopped'] as const

/** What every job shows. */
export const jobFields: Readonly<Record<string, JsonSchema>> = {
  id: string('ID of the job'),
  state: string({ enum: SHOWN_STATES, description: 'State of the job' }),
  waiting: integer({ enum: [0, 1], description: '1 while it waits for another job of the account' }),
  created_at: string('When it was requested, in the time zone of the service'),
  started_at: nullable(string('When it began to run')),
  ended_at: nullable(string('When it ended')),
  seconds_left: nullable(integer('Estimated time until it ends; null if unknown')),
  error: nullable(string('Why it failed, in Spanish')),
}

export const JOB_EXAMPLE = {
  id: 'pZ3n0aVwq1Lk',
  state: 'running',
  waiting: 0,
  created_at: '2025-12-31 15:00:00',
  started_at: '2025-12-31 15:00:04',
  ended_at: null,
  seconds_left: 12,
  error: null,
}

export function jobJson(job: JobRow, timeZone: string, secondsLeft: number | undefined) {
  const time = (at: number | null) => (at === null ? null : localDateTime(at, timeZone))
  const isWaiting = job.state === 'waiting'
  return {
    id: job.id,
    state: isWaiting ? 'running' : job.state,
    waiting: isWaiting ? 1 : 0,
    created_at: time(job.created_at),
    started_at: time(job.started_at),
    ended_at: time(job.ended_at),
    seconds_left: job.state === 'running' ? (secondsLeft ?? null) : null,
    error: job.error,
  }
}

/** The answer to a request for a job. */
export const accepted = (more: Readonly<Record<string, JsonSchema>> = {}, example: JsonSchema = {}) =>
  object(
    { status: constant(202), id: string('ID of the job'), ...more },
    { description: 'The job was accepted', examples: [{ status: 202, id: JOB_EXAMPLE.id, ...example }] },
  )

/** The answer with one job, or with all of the account. */
export function jobsAnswer(fields: Readonly<Record<string, JsonSchema>>, example: JsonSchema): JsonSchema {
  const one = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, optional(schema)]))
  return object(
    {
      status: constant(200),
      count: optional(integer('Number of jobs, without `id`')),
      data: optional(array(object(fields), 'Jobs of the account, newest first, without `id`')),
      ...one,
    },
    {
      description: 'One job with `id`; without it, the jobs of the account',
      examples: [
        { status: 200, count: 1, data: [example] },
        { status: 200, ...example },
      ],
    },
  )
}
