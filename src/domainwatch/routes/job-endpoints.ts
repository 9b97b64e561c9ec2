import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import {
  answer,
  array,
  constant,
  integer,
  nullable,
  object,
  optional,
  problem,
  string,
  type JsonSchema,
} from '../../http/openapi/json-schema.ts'
import { missingParameter } from '../../http/errors.ts'
import { text } from '../../http/parameters.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { HttpServer } from '../../http/server.ts'
import { domainErrors } from '../errors.ts'
import type { Jobs } from '../jobs/index.ts'
import { LISTED_DAYS, type JobKind, type JobRow } from '../jobs/job.ts'

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
const jobFields: Readonly<Record<string, JsonSchema>> = {
  id: string('ID of the job'),
  state: string({ enum: SHOWN_STATES, description: 'State of the job' }),
  waiting: integer({ enum: [0, 1], description: 'Whether the job waits for another one of the account (1)' }),
  created_at: string('Time of the request, in the time zone of the service'),
  started_at: nullable(string('Time at which the job began to run')),
  ended_at: nullable(string('Time at which the job ended')),
  seconds_left: nullable(integer('Estimated seconds until the job ends; null if unknown')),
  error: nullable(string('Reason for the failure, in Spanish')),
}

const JOB_EXAMPLE = {
  id: 'pZ3n0aVwq1Lk',
  state: 'running',
  waiting: 0,
  created_at: '2025-12-31 15:00:00',
  started_at: '2025-12-31 15:00:04',
  ended_at: null,
  seconds_left: 12,
  error: null,
}

function jobJson(job: JobRow, timeZone: string, secondsLeft: number | undefined) {
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
function jobsAnswer(fields: Readonly<Record<string, JsonSchema>>, example: JsonSchema): JsonSchema {
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
      examples: [{ status: 200, ...example }],
    },
  )
}

export const jobGone = problem('The account has no such job', domainErrors.job_not_found())

export interface JobEndpoints {
  readonly path: `/api/v1/domainwatch/${string}`
  readonly kinds: readonly JobKind[]
  readonly operations: { readonly list: string; readonly stop: string }
  /** What they are called in descriptions, one and several. */
  readonly nouns: readonly [string, string]
  readonly fields: Readonly<Record<string, JsonSchema>>
  readonly example: JsonSchema
  /** Returns what an answer shows of a job besides `jobFields`, and the estimate of the rest. */
  readonly show: (job: JobRow) => { readonly more: JsonSchema; readonly secondsLeft: number | undefined }
}

/** Adds the endpoints that list and stop jobs of some kinds. */
export function jobEndpoints(
  app: HttpServer,
  shared: EndpointShared,
  { jobs, timeZone }: { readonly jobs: Jobs; readonly timeZone: string },
  { path, kinds, operations, nouns: [noun, nouns], example, show, ...own }: JobEndpoints,
): void {
  const fields = { ...jobFields, ...own.fields }
  const shown = { ...JOB_EXAMPLE, ...example }
  const json = (job: JobRow) => {
    const { more, secondsLeft } = show(job)
    return { ...jobJson(job, timeZone, secondsLeft), ...more }
  }

  simpleEndpoint(app, shared, {
    route: `GET ${path}`,
    scopes: ['read', 'write'],
    parameters: { id: jobId },
    operation: operations.list,
    summary: `List ${nouns} and their progress`,
    description: `Lists at most 100 jobs of the account that have not ended, or ended in the last ${LISTED_DAYS} days.`,
    answers: { 200: jobsAnswer(fields, shown), 404: jobGone },
    async handle({ identity: { accountId }, values: { id } }) {
      if (id !== undefined) return { status: 200, ...json(await jobs.find(accountId, kinds, id)) }
      const data = (await jobs.list(accountId, kinds)).map(json)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `DELETE ${path}`,
    scopes: ['write'],
    parameters: { id: { ...jobId, required: true } },
    operation: operations.stop,
    summary: `Stop ${noun}`,
    description: 'Keeps what the job has stored. A job that has ended does not change.',
    answers: {
      200: answer(fields, 'Current state of the job', { ...shown, state: 'stopped' }),
      404: jobGone,
    },
    async handle({ identity: { accountId }, values: { id } }) {
      return { status: 200, ...json(await jobs.stop(accountId, kinds, requiredId(id))) }
    },
  })
}
