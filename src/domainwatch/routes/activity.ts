import { setImmediate as nextTurn } from 'node:timers/promises'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { toPage } from '../../http/headers.ts'
import { answer, array, integer, object, string } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { accountClient } from '../../lib/client.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import { changesByAccount } from '../history/queries.ts'
import {
  JOB_KINDS,
  UNDO_MS,
  type BulkProgress,
  type BulkRequest,
  type JobRow,
  type UndoRequest,
} from '../jobs/job.ts'
import { changeEntry, changeFields, readIdCursor } from './history.ts'
import type { DomainServices } from '../services.ts'

const DEFAULT_PAGE = 100
const MAX_PAGE = 200
/** The newest changes of all accounts that are searched for those of one: the log has no index by account. */
const MAX_SEARCHED = 50_000
/** Changes per read. */
const CHUNK = 500

const activityAnswer = answer(
  {
    count: integer('Number of changes on this page'),
    data: array(
      object({ name: string('Name of the record without `.cl`'), ...changeFields }),
      'The changes, newest first',
    ),
  },
  'Changes of the account',
  {
    count: 1,
    data: [
      {
        name: 'catalejo',
        date: '2025-12-31 15:00:00',
        account: 'grupo',
        kind: 'changed',
        from: { revision: 0, date_mod: '2025-12-31 14:30:40' },
        to: { revision: 1, date_mod: '2025-12-31 15:00:00' },
      },
    ],
  },
)

export function activityRoute(
  app: HttpServer,
  shared: EndpointShared,
  { clock, database, jobs, timeZone, baseUrl }: DomainServices,
): void {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/activity',
    scopes: ['read', 'write'],
    parameters: {
      limit: integerParameter(`Changes per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
    },
    operation: 'listActivity',
    summary: 'List what the account changed in the last 24 hours',
    description:
      'Lists the changes that the account of the key made to recorded names, newest first, among the newest 50,000 changes of all accounts. ' +
      'Bulk changes are listed by `GET bulk`, and imports by `GET imports`. If there are more changes, the `Link` header has the address of the next page.',
    answers: { 200: activityAnswer },

    async handle(call) {
      const { identity, values } = call
      const { limit = DEFAULT_PAGE, cursor } = values
      const { accountId } = identity
      const reader = database.readerOf(accountClient(accountId))
      const newest = await getNewest(reader)
      const isOfJob = madeByJobs(await jobs.list(accountId, JOB_KINDS))
      const span = { after: newest - MAX_SEARCHED, since: clock.now() - UNDO_MS }
      const found: { readonly id: number; readonly entry: object }[] = []
      let before = cursor === undefined ? newest + 1 : readIdCursor(cursor)
      // One more than shown reveals whether there is a next page.
      while (found.length <= limit) {
        const rows = await reader.values(changesByAccount(accountId, { ...span, before }, CHUNK))
        for (const row of rows) {
          if (row[2] !== 'domain') continue
          const id = Number(row[0])
          const entry = changeEntry([...row, identity.account], timeZone)
          if (entry === undefined || isOfJob(id, Object.keys(entry.to ?? {}))) continue
          found.push({ id, entry: { name: row[4], ...entry } })
        }
        if (rows.length < CHUNK) break
        before = Number(rows.at(-1)?.[0])
        await nextTurn()
      }
      const page = toPage(call, baseUrl, found, limit, ({ id }) => String(id))
      // Written here: an answer's schema does not say which fields changed.
      return JSON.stringify({ status: 200, count: page.length, data: page.map(({ entry }) => entry) })
    },
  })
}

const MARKS = ['seen', 'revision', 'discarded', 'reserved', 'note'] as const

/** Fields that change along with others. */
const DERIVED = ['date_mod', 'deleted_at', 'discarded_at', 'deleted_after']

/**
 * Returns a predicate on changes of an account: whether one was made by these jobs of it. The log does not name the job, but
 * each job has a range of ids, and fields that it sets. A change of the same fields while it ran counts as its own.
 */
function madeByJobs(jobs: readonly JobRow[]): (id: number, fields: readonly string[]) => boolean {
  const requests = new Map(jobs.map((job) => [job.id, job.request]))
  const ranges = jobs.flatMap((job) => {
    const { first, last }: BulkProgress = JSON.parse(job.progress)
    if (first === undefined || last === undefined) return []
    if (job.kind === 'import') return [{ first, last, sets: isListed }]
    const undone: UndoRequest | undefined = job.kind === 'undo' ? JSON.parse(job.request) : undefined
    const request = undone === undefined ? job.request : requests.get(undone.of)
    const fields = request === undefined ? undefined : fieldsSetBy(JSON.parse(request))
    return [{ first, last, sets: (field: string) => fields === undefined || fields.includes(field) }]
  })
  return (id, fields) => {
    const own = fields.filter((field) => !DERIVED.includes(field))
    return ranges.some(({ first, last, sets }) => id > first && id <= last && own.every(sets))
  }
}

/** Whether lists of the registry change a field: members decide on the others. */
const isListed = (field: string): boolean => ![...MARKS, 'tags'].includes(field)

/** Returns the fields that a bulk change sets, as the history names them. */
function fieldsSetBy({ set }: BulkRequest): readonly string[] {
  const hasTags = set.addTags.length + set.removeTags.length > 0
  return [...MARKS.filter((mark) => set[mark] !== null), ...(hasTags ? ['tags'] : [])]
}
