import { Readable } from 'node:stream'
import { clientAbort, enterUntilClosed } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { invalidCursor, nextLink } from '../../http/headers.ts'
import { integer as integerParameter, text, choice } from '../../http/parameters.ts'
import { decodeCursor } from '../list/order.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { hasOwnCursor, listParameters, listRequest, type Frame } from '../list/domain-lists.ts'
import { domainRecord, fieldsParameter } from '../record-fields.ts'
import { orderRefused, RECORD_EXAMPLE, recordFields } from '../schemas.ts'
import { answer, array, integer, string, number, object } from '../../http/openapi/json-schema.ts'
import { accountClient } from '../../lib/client.ts'
import { Gate } from '../../lib/gate.ts'
import { POOLS } from '../../lib/limits.ts'
import { EXPORT_FORMATS, exportFormats, type FurtherExport, exportText } from '../export.ts'
import type { AddRoutes } from '../services.ts'
import { badParameter } from '../../http/errors.ts'
import { parseLabelOrDomain } from '../../lib/domain-names.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { maxDistance } from '../lookalikes.ts'
import { REASONS } from '../../lib/lookalikes/index.ts'

const listAnswer = answer(
  {
    count: integer('Number of records returned'),
    query: string('Search text in lower case'),
    data: array(
      array(domainRecord),
      'Array that contains one array of records, with the additional fields that `fields` names',
    ),
  },
  'Matching records',
  {
    count: 1,
    query: 'cata',
    data: [[RECORD_EXAMPLE]],
  },
)

const pageParameters = {
  ...listParameters,
  limit: integerParameter('Records per page', 1, MAX_PAGE_RECORDS),
  cursor: text('Cursor of the page, from the `Link` header of the previous one', 1_000),
  fields: fieldsParameter,
}

const TAIL = Buffer.from(']}')

function toFrame(search: string | undefined): Frame {
  const query = JSON.stringify(search?.toLowerCase() ?? '')
  return (count) => ({
    before: Buffer.from(`{"status":200,"count":${count},"query":${query},"data":[`),
    after: TAIL,
  })
}

export const listRoute: AddRoutes = (app, shared, { baseUrl, lists, records, servers }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/list',
    scopes: ['read', 'write'],
    ignoresUnknown: true,
    parameters: pageParameters,
    operation: 'listDomains',
    summary: 'List recorded domains',
    description: `Returns at most ${MAX_PAGE_RECORDS.toLocaleString('en')} records, the newest first. If there are more, the \`Link\` header has the address of the next page.`,
    answers: { 200: listAnswer, 400: orderRefused },

    async handle({ values, identity, request, reply }) {
      const selection = listRequest(values)
      const cursor = values.cursor === undefined ? undefined : decodeCursor(values.cursor)
      const asked = { ...selection, limit: values.limit, cursor }
      if ((values.cursor !== undefined && cursor === undefined) || !hasOwnCursor(asked)) throw invalidCursor()
      const { accountId } = identity
      const pageRequest = { ...asked, filters: await servers.narrow(asked.filters, values, accountId) }
      const frame = toFrame(values.search)
      const link = (next: string | undefined) => {
        if (next !== undefined) reply.header('link', nextLink(baseUrl, request.raw.url ?? '', next))
      }
      const left = () => clientAbort(reply.raw)
      if (values.fields === undefined) {
        const page = await lists.page(pageRequest, frame, accountId, left)
        link(page.next)
        return page.json
      }
      const page = await lists.pageNames(pageRequest, accountId, left)
      const found = await records.page(page.names, values.fields, accountId, left(), page.model)
      link(page.next)
      const { before, after } = frame(found.length)
      return Buffer.concat([before, Buffer.from(JSON.stringify(found)), after])
    },
  })
}

/** Not JSON: the schema only documents it. */
const exportAnswer = {
  description: 'Records, one per line; CSV begins with a line of field names',
  content: {
    'text/csv': { schema: string() },
    'application/x-ndjson': { schema: string() },
  },
}

const exportParameters = {
  ...listParameters,
  format: choice('Format of the records', EXPORT_FORMATS),
  fields: fieldsParameter,
}

export const exportRoute: AddRoutes = (app, shared, { lists, records, servers, timeZone }) => {
  const streams = new Gate(POOLS.streams)
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/export',
    scopes: ['read', 'write'],
    parameters: exportParameters,
    operation: 'exportDomains',
    summary: 'Export all matching records',
    description:
      'Streams all records that the filters of `list` match, newest first, as CSV (the default) or one JSON object per line. `catalejo import` reads both.',
    answers: { 200: exportAnswer, 400: orderRefused },

    async handle({ values, identity, request, reply }) {
      const { format = 'csv', fields } = values
      const { accountId } = identity
      const asked = listRequest(values)
      const selection = { ...asked, filters: await servers.narrow(asked.filters, values, accountId) }
      await lists.assertOrder(selection)
      if (request.method !== 'HEAD') await enterUntilClosed(streams, accountClient(accountId), reply.raw)
      reply
        .type(exportFormats[format].type)
        .header('content-disposition', `attachment; filename="dominios.${format}"`)
      const left = clientAbort(reply.raw)
      const further: FurtherExport | undefined = fields && {
        fields,
        read: (names, wanted) => records.byName(names, wanted, accountId, left),
      }
      // Reads one part ahead of the client.
      const text = exportText(lists.whole(selection, accountId, left), format, timeZone, further)
      return Readable.from(text, { highWaterMark: 1 })
    },
  })
}

const similarAnswer = answer(
  {
    count: integer('Records returned'),
    query: string('Name that the records resemble, without the suffix'),
    data: array(
      array(
        object({
          ...recordFields,
          reason: string({ enum: REASONS, description: 'Most important difference between the names' }),
          detail: string({ description: 'All differences, in Spanish', examples: ['«0» por «o»'] }),
          score: number({
            minimum: 0,
            maximum: 1,
            description: 'Similarity; 1 for names that look the same',
          }),
        }),
      ),
      'Array that contains one array of records, the best first',
    ),
  },
  'Records that resemble the name',
  {
    count: 1,
    query: 'catalej0',
    data: [[{ ...RECORD_EXAMPLE, reason: 'homoglyph', detail: '«o» por «0»', score: 0.976 }]],
  },
)

const DEFAULT_SIMILAR = 100

export const similarRoute: AddRoutes = (app, shared, { lookalikes }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/similar',
    scopes: ['read', 'write'],
    parameters: {
      domain: {
        ...text('Name, with or without `.cl`', MAX_FILTER_CHARACTERS),
        required: true,
        example: 'mibanco',
      },
      max_distance: maxDistance,
      limit: integerParameter(`Maximum number of records; default ${DEFAULT_SIMILAR}`, 1, MAX_PAGE_RECORDS),
    },
    operation: 'findSimilarDomains',
    summary: 'Find recorded domains that resemble a name',
    description:
      'Finds names that may be confused with the given one: a letter added, missing or replaced, letters that look the same, accents, ' +
      'hyphens, words added. Returns the best matches first, each with its reason.',
    answers: { 200: similarAnswer },

    async handle({ values: { domain, limit, max_distance: most }, identity, reply }) {
      const label = parseLabelOrDomain(domain ?? '')
      if (!label.ok) {
        throw badParameter('domain', 'debe ser un nombre de dominio .cl válido, con o sin el sufijo')
      }
      const left = clientAbort(reply.raw)
      const wanted = { name: label.name, limit: limit ?? DEFAULT_SIMILAR, maxDistance: most }
      const { json, count } = await lookalikes.find(wanted, identity.accountId, left)
      return `{"status":200,"count":${count},"query":"${label.name}","data":[${json}]}`
    },
  })
}
