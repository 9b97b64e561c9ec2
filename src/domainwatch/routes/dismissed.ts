import { simpleEndpoint } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import { invalidCursor, toPage } from '../../http/headers.ts'
import { answer, integer, nullable, object, string, listAnswer } from '../../http/openapi/json-schema.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { accountClient } from '../../lib/client.ts'
import { localDateTime } from '../../lib/dates.ts'
import {
  forgetNames,
  readDismissed,
  getDeletion,
  type DismissedPlace,
  type DismissedRow,
} from '../queries-dismissed.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { bit, dateTime } from '../schemas.ts'
import { namesParameter } from '../tasks/parse-data.ts'
import type { AddRoutes } from '../services.ts'

const PATH = '/api/v1/domainwatch/dismissed'
const DEFAULT_PAGE = 100
const MAX_CURSOR_CHARACTERS = 100

const dismissedName = object(
  {
    name: string('Name without the `.cl` suffix'),
    dismissed_by: nullable(string('Account that discarded the record; null if unknown')),
    dismissed_at: dateTime('Time at which the record was discarded, in the time zone of the service'),
    status: bit('Registered (1) or free (0), as last known'),
    date_reg: dateTime('Registration time, as last known'),
    date_reg_known: bit(
      'Whether the registration time was known (1); otherwise `date_reg` is the deletion time (0)',
    ),
    deleted_at: nullable(string('Deletion time, as last known; null if the domain was registered')),
  },
  { title: 'DismissedDomain' },
)

const page = listAnswer(
  dismissedName,
  {
    count: 'Number of names returned',
    data: 'The names',
    description: 'Dismissed names, the last discarded first',
  },
  {
    name: 'catalejo',
    dismissed_by: 'ana',
    dismissed_at: '2026-01-05 09:10:00',
    status: 0,
    date_reg: '2025-12-31 14:30:34',
    date_reg_known: 1,
    deleted_at: '2026-01-04 23:10:00',
  },
)

const forgotten = answer(
  { count: integer('Number of given names that were dismissed until now') },
  'The names were forgotten',
  { count: 1 },
)

export const dismissedRoute: AddRoutes = (app, shared, { baseUrl, clock, database, timeZone }) => {
  simpleEndpoint(app, shared, {
    route: `GET ${PATH}`,
    scopes: ['read', 'write'],
    parameters: {
      search: text('Only names that contain all words of this text', MAX_FILTER_CHARACTERS),
      limit: integerParameter(`Names per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE_RECORDS),
      cursor: text('Cursor of the page, from the `Link` header of the previous one', MAX_CURSOR_CHARACTERS),
    },
    operation: 'listDismissed',
    summary: 'List dismissed names',
    description:
      'Lists names whose discarded records were removed. Lists of the registry record such a name again only if they report a newer ' +
      'registration or deletion. The `Link` header has the address of the next page, if there is one.',
    answers: { 200: page },
    async handle(call) {
      const { search = '', limit = DEFAULT_PAGE, cursor } = call.values
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const reader = database.readerOf(accountClient(call.identity.accountId))
      const rows = await readDismissed(database, reader, search, after, limit + 1)
      const shown = toPage(call, baseUrl, rows, limit, cursorAfter)
      return { status: 200, count: shown.length, data: shown.map((row) => dismissedJson(row, timeZone)) }
    },
  })

  simpleEndpoint(app, shared, {
    route: `DELETE ${PATH}`,
    scopes: ['write'],
    parameters: { data: { ...namesParameter('Names, a JSON array of up to 1,000'), required: true } },
    operation: 'forgetDismissed',
    summary: 'Forget dismissed names',
    description:
      'The next list of the registry that has one of the names records it again. Ignores names that are not dismissed.',
    answers: { 200: forgotten },
    async handle({ identity, values: { data: names } }) {
      if (names === undefined) throw missingParameter('data')
      const count = await forgetNames(database, clock, names)
      await shared.audit.record(identity, 'dismissed.forget', names.join(' '))
      return { status: 200, count }
    },
  })
}

function dismissedJson(row: DismissedRow, timeZone: string) {
  const { name, dismissed_by, dismissed_at, status, date_reg, date_reg_known } = row
  return {
    name,
    dismissed_by,
    dismissed_at: localDateTime(dismissed_at, timeZone),
    status,
    date_reg,
    date_reg_known,
    deleted_at: getDeletion(row),
  }
}

const cursorAfter = ({ dismissed_at, name }: DismissedPlace) => `${dismissed_at}.${name}`

/** @throws HttpError 400 */
function readCursor(text: string): DismissedPlace {
  const [, at, name] = /^(\d{1,15})\.(.+)$/.exec(text) ?? []
  if (at === undefined || name === undefined) throw invalidCursor()
  return { dismissed_at: Number(at), name }
}
