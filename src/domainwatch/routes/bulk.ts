import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import {
  array,
  integer,
  nullable,
  object,
  optional,
  problem,
  problemWith,
  string,
} from '../../http/openapi/json-schema.ts'
import { integer as integerParameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { domainErrors } from '../errors.ts'
import { filterParameters, readFilters } from '../filters.ts'
import { serverParameters } from '../servers/index.ts'
import { setJson, setParameter, givenNames, matchingNames } from '../jobs/bulk-request.ts'
import {
  BULK_KINDS,
  MAX_OPEN_JOBS,
  type BulkProgress,
  type BulkRequest,
  type JobRow,
  type UndoRequest,
} from '../jobs/job.ts'
import { serializeFilters } from '../saved-filters.ts'
import { accepted, jobEndpoints, jobGone, jobId, requiredId } from './job-endpoints.ts'
import { namesArrayParameter } from '../tasks/data-field.ts'
import type { DomainServices } from '../services.ts'

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

export function bulkRoutes(app: HttpServer, shared: EndpointShared, services: DomainServices): void {
  const { jobs, servers } = services
  simpleEndpoint(app, shared, {
    route: `POST ${PATH}`,
    scopes: ['write'],
    parameters: {
      ...filterParameters,
      ...serverParameters,
      set: setParameter,
      data: namesArrayParameter(
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
      const { count, lines } =
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
        await receiver.store(lines())
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
  const { secondsLeft, ...progress }: Partial<BulkProgress> = JSON.parse(job.progress)
  const { matched: count = 0, done = 0, skipped = 0 } = progress
  return {
    more: {
      matched: count,
      done,
      skipped,
      filters,
      set: set === undefined ? null : setJson(set),
      undo_of: of,
    },
    secondsLeft,
  }
}
