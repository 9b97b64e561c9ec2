import type { HttpServer } from '../../http/server.ts'
import { HttpError } from '../../lib/errors.ts'
import { parseLabelOrDomain } from '../../lib/domain-names.ts'
import { clientOf } from '../../storage/database/connection-slots.ts'
import type { Database } from '../../storage/database/database.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { invalidCursor, nextLink } from '../../http/headers.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { changeEntry, mailServersEntry, nameServersEntry, CHANGE_KINDS } from '../history/entries.ts'
import { changesOfDomain, observationsOf } from '../history/queries.ts'
import { MAX_ENTRIES } from '../history/store-observations.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { answer, array, integer, object, string, nullable } from '../../http/openapi/json-schema.ts'

const fields = (description: string) => ({
  type: ['object', 'null'],
  description,
  additionalProperties: { type: ['string', 'integer', 'array', 'null'], items: string() },
})

const change = object({
  date: string({ description: 'When, in the time zone of the service', examples: ['2025-12-31 15:00:00'] }),
  account: nullable(string('Account that made it; null if unknown, as for an expired record')),
  kind: string({ enum: CHANGE_KINDS, description: 'What kind of change' }),
  from: fields('The fields that changed, as they were; null where there was no record'),
  to: fields('The same as they became; null where there is no record any more'),
})

const period = {
  first: string('When that was first seen'),
  last: string('When it was last seen'),
}

const seen = object({
  status: integer({ enum: [200, 404], description: '404: the DNS said that there is no such name' }),
  dns: array(string(), 'Host names of the name servers'),
  ...period,
})

const mail = object({ mx: array(object({ preference: integer(), exchange: string() })), ...period })

const historyAnswer = answer(
  {
    domain: string('The name without `.cl`'),
    count: integer('Changes in this page'),
    data: array(change, 'The changes, newest first'),
    dns: array(seen, 'The name servers, newest first'),
    mx: array(mail, 'The MX records, newest first'),
  },
  'What is known; nothing of a name that was never recorded',
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
  limit: integerParameter(`Changes in a page, ${DEFAULT_PAGE} unless given`, 1, MAX_PAGE_RECORDS),
  cursor: text('Where the page starts: from the `Link` header of the one before', 100),
}

export function historyRoute(
  app: HttpServer,
  shared: EndpointShared,
  { database, timeZone, baseUrl }: { database: Database; timeZone: string; baseUrl: () => string },
) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/history',
    parameters,
    document: {
      summary: 'What happened to a domain',
      description:
        'The changes of its record, newest first, and its name servers and MX records over time. When there are more changes, ' +
        'the `Link` header carries the address of the next page.',
      answers: { 200: historyAnswer },
    },

    async handle({ identity, values, request, reply }) {
      const { limit = DEFAULT_PAGE } = values
      const label = parseLabelOrDomain(values.domain ?? '')
      if (!label.ok) throw new HttpError(400, 'El parámetro domain debe ser un nombre de dominio .cl válido')
      const before = values.cursor === undefined ? undefined : readIdCursor(values.cursor)
      const reader = database.readerOf(clientOf(identity.accountId))
      const [rows, nameServers, mailServers] = await Promise.all([
        // One more than shown reveals whether there is a next page.
        reader.values(changesOfDomain(label.name, before, limit + 1)),
        reader.all(observationsOf('ns', label.name, MAX_ENTRIES)),
        reader.all(observationsOf('mx', label.name, MAX_ENTRIES)),
      ])
      const page = rows.slice(0, limit)
      const data = page.map((row) => changeEntry(row, timeZone)).filter((entry) => entry !== undefined)
      const last = page.at(-1)
      if (rows.length > limit && last !== undefined) {
        reply.header('link', nextLink(baseUrl, request.raw.url ?? '', String(last[0])))
      }
      const dns = nameServers.map((row) => nameServersEntry(row, timeZone))
      const mx = mailServers.map((row) => mailServersEntry(row, timeZone))
      // Written here: an answer's schema does not say which fields changed.
      return JSON.stringify({ status: 200, domain: label.name, count: data.length, data, dns, mx })
    },
  })
}

/** Reads a cursor that is the id of the last item shown. */
export function readIdCursor(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw invalidCursor()
  return Number(text)
}
