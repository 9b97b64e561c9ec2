import { setImmediate as nextTurn } from 'node:timers/promises'
import { badParameter } from '../../http/errors.ts'
import { localDateTime } from '../../lib/dates.ts'
import { parseLabelOrDomain } from '../../lib/domain-names.ts'
import { accountClient } from '../../lib/client.ts'
import { toChange, type Change, type Fields } from '../../storage/database/changes/change.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { invalidCursor, toPage } from '../../http/headers.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { changesOfDomain, toObservations, type ObservationRow, changesByAccount } from '../history/queries.ts'
import { MAX_ENTRIES } from '../history/observations.ts'
import { DISCARDED_LIFETIME_MS, MAX_PAGE_RECORDS } from '../limits.ts'
import { splitTags } from '../filtered-record.ts'
import {
  answer,
  array,
  integer,
  object,
  string,
  nullable,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import type { AddRoutes } from '../services.ts'
import { getNewest } from '../../storage/database/changes/change-log.ts'
import type { BulkProgress, BulkRequest, UndoRequest } from '../jobs/bulk.ts'
import { UNDO_MS } from '../jobs/job.ts'
import { JOB_KINDS, type JobRow } from '../jobs/queries.ts'

const CHANGE_KINDS = ['added', 'changed', 'discarded', 'restored', 'deleted', 'dropped'] as const
type Kind = (typeof CHANGE_KINDS)[number]

const fields = (description: string) => ({
  type: ['object', 'null'],
  description,
  additionalProperties: { type: ['string', 'integer', 'array', 'null'], items: string() },
})

/** What a change shows. */
const changeFields = {
  date: string({
    description: 'Time of the change, in the time zone of the service',
    examples: ['2025-12-31 15:00:00'],
  }),
  account: nullable(string('Account that made the change; null if unknown, as for a purged record')),
  kind: string({
    enum: CHANGE_KINDS,
    description: 'Kind of change. `dropped`: a list showed that an earlier registration was deleted',
  }),
  from: fields('Previous values of the changed fields; null if there was no record'),
  to: fields('New values of the changed fields; null if there is no record any more'),
}

const period = {
  first: string('Time of the first look-up with these records'),
  last: string('Time of the last look-up with these records'),
}

const seen = object({
  status: integer({
    enum: [200, 404],
    description: '200: the name exists. 404: the DNS said that there is no such name',
  }),
  dns: array(string(), 'Host names of the name servers'),
  ...period,
})

const mail = object({ mx: array(object({ preference: integer(), exchange: string() })), ...period })

const historyAnswer = answer(
  {
    domain: string('Name without `.cl`'),
    count: integer('Number of changes on this page'),
    data: array(object(changeFields), 'The changes, newest first'),
    dns: array(seen, 'The name servers, newest first'),
    mx: array(mail, 'The MX records, newest first'),
  },
  'Known changes and records; empty for a name that was never recorded',
  {
    domain: 'catalejo',
    count: 1,
    data: [
      {
        date: '2025-12-31 15:00:00',
        account: 'grupo',
        kind: 'changed',
        from: { status: 1, date_mod: '2025-12-31 14:30:40', deleted_at: null },
        to: { status: 0, date_mod: '2025-12-31 15:00:00', deleted_at: '2025-12-31 15:00:00' },
      },
    ],
    dns: [{ status: 200, dns: ['a.nic.cl'], first: '2025-12-31 14:40:00', last: '2025-12-31 14:59:10' }],
    mx: [],
  },
)

const DEFAULT_PAGE = 100

const parameters = {
  domain: { ...text('Name, with or without `.cl`', 1_000), required: true, example: 'catalejo' },
  limit: integerParameter(`Changes per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE_RECORDS),
  cursor: text('Cursor of the page, from the `Link` header of the previous one', 100),
}

export const historyRoute: AddRoutes = (app, shared, { baseUrl, database, timeZone }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/history',
    scopes: ['read', 'write'],
    parameters,
    operation: 'getDomainHistory',
    summary: 'Show the history of a domain',
    description:
      'Returns the changes of its record, newest first, and its name servers and MX records over time. If there are more changes, ' +
      'the `Link` header has the address of the next page.',
    answers: { 200: historyAnswer },

    async handle(call) {
      const { identity, values } = call
      const { limit = DEFAULT_PAGE } = values
      const label = parseLabelOrDomain(values.domain ?? '')
      if (!label.ok) throw badParameter('domain', 'debe ser un nombre de dominio .cl válido')
      const before = values.cursor === undefined ? undefined : readIdCursor(values.cursor)
      const reader = database.readerOf(accountClient(identity.accountId))
      const [rows, nameServers, mailServers] = await Promise.all([
        // One more than shown reveals whether there is a next page.
        reader.values(changesOfDomain(label.name, before, limit + 1)),
        reader.all(toObservations('ns', label.name, MAX_ENTRIES)),
        reader.all(toObservations('mx', label.name, MAX_ENTRIES)),
      ])
      const page = toPage(call, baseUrl, rows, limit, ([id]) => String(id))
      const data = page.map((row) => changeEntry(row, timeZone)).filter((entry) => entry !== undefined)
      const dns = nameServers.map((row) => nameServersEntry(row, timeZone))
      const mx = mailServers.map((row) => mailServersEntry(row, timeZone))
      // Written here: an answer's schema does not say which fields changed.
      return JSON.stringify({ status: 200, domain: label.name, count: data.length, data, dns, mx })
    },
  })
}

/**
 * Returns the change of a row, as those of `changesOfDomain`, as clients see it: with the fields that changed, or all of an added or deleted
 * record. Undefined if clients see no difference.
 */
function changeEntry(row: readonly SqlValue[], timeZone: string) {
  const change = toChange(row, '')
  if (change === undefined) return undefined
  const kind = toKind(change)
  const show = kind === 'dropped' ? deletionFields : exportedFields
  const [from, to] = [show(change.before), show(change.after)]
  const changed = Object.keys({ ...from, ...to }).filter((name) => from?.[name] !== to?.[name])
  if (changed.length === 0) return undefined
  const only = (fields: Fields | null) =>
    fields && Object.fromEntries(changed.map((name) => [name, shown(name, fields[name] ?? null)]))
  return {
    date: localDateTime(effectiveTime(change), timeZone),
    // Null if unknown: the record expired, or was written outside the service.
    account: typeof row[8] === 'string' ? row[8] : null,
    kind,
    from: only(from),
    to: only(to),
  }
}

/** Returns when the change took effect: a discarded record expires after its lifetime, even if it was purged later. */
function effectiveTime({ at, before, after }: Change): number {
  const discardedAt = before?.['discarded_at']
  return after === null && typeof discardedAt === 'number'
    ? Math.min(at, discardedAt + DISCARDED_LIFETIME_MS)
    : at
}

function toKind({ before, after }: Change): Kind {
  if (before === null) return 'added'
  if (after === null) return 'deleted'
  const isBought = before['status'] === 1 && after['status'] === 1
  if (isBought && after['released_at'] !== before['released_at']) return 'dropped'
  const [was, is] = [before['discarded_at'] !== null, after['discarded_at'] !== null]
  return was === is ? 'changed' : is ? 'discarded' : 'restored'
}

const shown = (name: string, value: Fields[string]) =>
  name === 'tags' ? splitTags(value === null ? null : String(value)) : value

/** Returns when the last registration of a bought record before the present one was deleted. */
const deletionFields = (fields: Fields | null): Fields | null =>
  fields && { deleted_after: fields['deleted_after'] ?? null, deleted_at: fields['released_at'] ?? null }

/** Returns a record's fields in the form of `export`; tags as stored. Who decided and when is in the entry itself. */
function exportedFields(fields: Fields | null): Fields | null {
  if (fields === null) return null
  const { agent, status, reserved, revision, discarded_at, released_at, date_reg, date_mod } = fields
  const { seen_at, note, tags, date_reg_known, deleted_after } = fields
  const deletedAt = status === 0 ? (released_at ?? date_reg ?? null) : null
  const isUncertain = deletedAt !== null && (deleted_after ?? deletedAt) !== deletedAt
  return {
    agent: agent ?? null,
    status: status ?? null,
    reserved: reserved ?? null,
    revision: revision ?? null,
    discarded: discarded_at === null ? 0 : 1,
    date_reg: date_reg ?? null,
    date_mod: date_mod ?? null,
    deleted_at: deletedAt,
    // Where a list of the registry left them uncertain.
    ...(date_reg_known === 0 && { date_reg_known }),
    ...(isUncertain && { deleted_after }),
    discarded_at: typeof discarded_at === 'number' ? new Date(discarded_at).toISOString() : null,
    seen: seen_at === null ? 0 : 1,
    note: note ?? '',
    tags: tags ?? null,
  }
}

/** A period in which the DNS gave the same answer for a name. */
const nameServersEntry = ({ servers, ...period }: ObservationRow, timeZone: string) => ({
  status: servers === null ? 404 : 200,
  dns: servers === null ? [] : JSON.parse(servers),
  ...shownPeriod(period, timeZone),
})

/** A period in which the DNS gave the same MX records for a name. */
const mailServersEntry = ({ servers, ...period }: ObservationRow, timeZone: string) => ({
  mx: JSON.parse(servers ?? '[]'),
  ...shownPeriod(period, timeZone),
})

const shownPeriod = ({ first_at, last_at }: Omit<ObservationRow, 'servers'>, timeZone: string) => ({
  first: localDateTime(first_at, timeZone),
  last: localDateTime(last_at, timeZone),
})

/** Reads a cursor that is the id of the last item shown. */
export function readIdCursor(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw invalidCursor()
  return Number(text)
}

const DEFAULT_ACTIVITY = 100
const MAX_ACTIVITY = 200
/** The newest changes of all accounts that are searched for those of one: the log has no index by account. */
const MAX_SEARCHED = 50_000
/** Changes per read. */
const CHANGES_AT_A_TIME = 500

const activityAnswer = listAnswer(
  object({ name: string('Name of the record without `.cl`'), ...changeFields }),
  {
    count: 'Number of changes on this page',
    data: 'The changes, newest first',
    description: 'Changes of the account',
  },
  {
    name: 'catalejo',
    date: '2025-12-31 15:00:00',
    account: 'grupo',
    kind: 'changed',
    from: { revision: 0, date_mod: '2025-12-31 14:30:40' },
    to: { revision: 1, date_mod: '2025-12-31 15:00:00' },
  },
)

export const activityRoute: AddRoutes = (app, shared, { clock, database, jobs, timeZone, baseUrl }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/activity',
    scopes: ['read', 'write'],
    parameters: {
      limit: integerParameter(`Changes per page; default ${DEFAULT_ACTIVITY}`, 1, MAX_ACTIVITY),
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
      const { limit = DEFAULT_ACTIVITY, cursor } = values
      const { accountId } = identity
      const reader = database.readerOf(accountClient(accountId))
      const newest = await getNewest(reader)
      const isOfJob = madeByJobs(await jobs.list(accountId, JOB_KINDS))
      const span = { after: newest - MAX_SEARCHED, since: clock.now() - UNDO_MS }
      const found: { readonly id: number; readonly entry: object }[] = []
      let before = cursor === undefined ? newest + 1 : readIdCursor(cursor)
      // One more than shown reveals whether there is a next page.
      while (found.length <= limit) {
        const rows = await reader.values(changesByAccount(accountId, { ...span, before }, CHANGES_AT_A_TIME))
        for (const row of rows) {
          if (row[2] !== 'domain') continue
          const id = Number(row[0])
          const entry = changeEntry([...row, identity.account], timeZone)
          if (entry === undefined || isOfJob(id, Object.keys(entry.to ?? {}))) continue
          found.push({ id, entry: { name: row[4], ...entry } })
        }
        if (rows.length < CHANGES_AT_A_TIME) break
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
