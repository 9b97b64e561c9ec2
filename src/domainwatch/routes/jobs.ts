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
  problemWith,
} from '../../http/openapi/json-schema.ts'
import { missingParameter } from '../../http/errors.ts'
import { text, integer as integerParameter } from '../../http/parameters.ts'
import { localDateTime } from '../../lib/dates.ts'
import type { HttpServer } from '../../http/server.ts'
import { domainErrors } from '../errors.ts'
import type { Jobs } from '../jobs/index.ts'
import { LISTED_DAYS, MAX_OPEN_JOBS, type Pace } from '../jobs/job.ts'
import { BULK_KINDS, type JobKind, type JobRow } from '../jobs/queries.ts'
import { clientAbort } from '../../http/client.ts'
import { filterParameters, readFilters, serializeFilters } from '../filters.ts'
import { serverParameters } from '../servers.ts'
import {
  setJson,
  setParameter,
  givenNames,
  matchingNames,
  type BulkProgress,
  type BulkRequest,
  type UndoRequest,
} from '../jobs/bulk.ts'
import { namesParameter } from '../tasks/parse-data.ts'
import type { AddRoutes } from '../services.ts'

const MAX_ID_CHARACTERS = 40

const jobId = text('ID of the job', MAX_ID_CHARACTERS)

/** @throws HttpError 400 */
function requiredId(id: string | undefined): string {
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

function jobJson(job: JobRow, timeZone: string) {
  const { secondsLeft }: Pace = JSON.parse(job.progress)
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

const jobGone = problem('The account has no such job', domainErrors.job_not_found())

interface JobEndpoints {
  readonly path: `/api/v1/domainwatch/${string}`
  readonly kinds: readonly JobKind[]
  readonly operations: { readonly list: string; readonly stop: string }
  /** What they are called in descriptions, one and several. */
  readonly nouns: readonly [string, string]
  readonly fields: Readonly<Record<string, JsonSchema>>
  readonly example: JsonSchema
  /** Returns what an answer shows of a job besides `jobFields`. */
  readonly show: (job: JobRow) => JsonSchema
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
  const json = (job: JobRow) => ({ ...jobJson(job, timeZone), ...show(job) })

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

const PATH = '/api/v1/domainwatch/bulk'
const MAX_EXPECTED = 999_999_999
/** By what part of the expected number the matches may differ. */
const TOLERANCE = 1 / 100

const matched = integer('Number of records that matched when the change was requested')

const mark = optional(integer({ enum: [0, 1], description: 'Value of the mark' }))
const tags = (description: string) => optional(array(string(), description))

const setFields = {
  seen: mark,
  revision: mark,
  discarded: mark,
  reserve: mark,
  note: optional(string('Note; empty to remove the note')),
  add_tags: tags('Tags to add'),
  remove_tags: tags('Tags to remove'),
}

const bulkFields = {
  matched,
  done: integer('Number of records that were changed, or already had the values'),
  skipped: integer(
    'Number of records that no longer match, no longer exist or would get too many tags; in an undo, that someone has changed since',
  ),
  filters: object(
    {},
    { description: 'Filters that the records had to match', additionalProperties: string() },
  ),
  set: nullable(object(setFields, { description: 'Values that are set; null for an undo' })),
  undo_of: nullable(string('ID of the job that this one undoes; null for a change')),
}

const EXAMPLE = {
  matched: 4131,
  done: 1990,
  skipped: 10,
  filters: { search: 'casa', status: '0' },
  set: { seen: 1, add_tags: ['oferta'] },
  undo_of: null,
}

const tooMany = problem(
  'The account has the maximum number of unfinished jobs',
  domainErrors.too_many_jobs(MAX_OPEN_JOBS),
)
const countChanged = (count: number) => domainErrors.count_changed(count).with({ fields: { matched: count } })

export const bulkRoutes: AddRoutes = (app, shared, services) => {
  const { jobs, servers } = services
  simpleEndpoint(app, shared, {
    route: `POST ${PATH}`,
    scopes: ['write'],
    parameters: {
      ...filterParameters,
      ...serverParameters,
      set: setParameter,
      data: namesParameter(
        'Names without `.cl`, a JSON array of up to 1,000: changes only these records, if they match',
      ),
      expect: integerParameter(
        'Expected number of matches: 409 if the number differs by more than 1%',
        0,
        MAX_EXPECTED,
      ),
    },
    operation: 'changeDomains',
    summary: 'Change all records that match',
    description:
      'Changes the records that match now, in the background, as `update` does. Skips a record that no longer matches when its turn comes.',
    answers: {
      202: accepted({ matched }, { matched: 4131 }),
      409: problemWith(
        { matched },
        'The number of matching records differs from the expected one',
        countChanged(4131),
      ),
      429: tooMany,
    },
    async handle({ identity, values, reply }) {
      const { accountId } = identity
      const { set, expect, data, ...given } = values
      if (set === undefined) throw missingParameter('set')
      const filters = await servers.narrow(readFilters(given), given, accountId)
      const { count, text: names } =
        data === undefined
          ? await matchingNames(services, filters, accountId, clientAbort(reply.raw))
          : givenNames(data)
      if (expect !== undefined && Math.abs(count - expect) > expect * TOLERANCE) throw countChanged(count)
      const request: BulkRequest = {
        filters: serializeFilters(given),
        set,
      }
      const progress: BulkProgress = { matched: count, done: 0, skipped: 0 }
      const receiver = await jobs.receive(accountId, 'bulk', { request, progress })
      try {
        await receiver.store(names)
        await receiver.finish(request)
      } catch (error) {
        await receiver.abandon()
        throw error
      }
      await shared.audit.record(
        identity,
        'bulk.start',
        `${receiver.id} ${JSON.stringify({ matched: count, set: setJson(set) })}`,
      )
      reply.code(202)
      return { status: 202, id: receiver.id, matched: count }
    },
  })

  jobEndpoints(app, shared, services, {
    path: PATH,
    kinds: BULK_KINDS,
    operations: { list: 'listChanges', stop: 'stopChange' },
    nouns: ['a bulk change', 'bulk changes'],
    fields: bulkFields,
    example: EXAMPLE,
    show,
  })

  simpleEndpoint(app, shared, {
    route: `POST ${PATH}/undo`,
    scopes: ['write'],
    parameters: { id: { ...jobId, required: true } },
    operation: 'undoChange',
    summary: 'Undo a bulk change',
    description:
      'Restores the previous values of each record in the background, unless someone has changed it since. Accepts changes and undos that ended in the ' +
      'last day.',
    answers: {
      202: accepted({ matched }, { matched: 4131 }),
      404: jobGone,
      409: problem('The change has not ended', domainErrors.job_not_ended()),
      410: problem('The change ended more than a day ago', domainErrors.undo_expired()),
      429: tooMany,
    },
    async handle({ identity, values: { id }, reply }) {
      const undo = await jobs.undo(identity.accountId, requiredId(id))
      await shared.audit.record(identity, 'bulk.undo', requiredId(id))
      reply.code(202)
      return { status: 202, ...undo }
    },
  })
}

function show(job: JobRow) {
  const request: Partial<BulkRequest & UndoRequest> = JSON.parse(job.request)
  const { of = null, filters = {}, set } = request
  const { matched: count = 0, done = 0, skipped = 0 }: Partial<BulkProgress> = JSON.parse(job.progress)
  return {
    matched: count,
    done,
    skipped,
    filters,
    set: set === undefined ? null : setJson(set),
    undo_of: of,
  }
}
