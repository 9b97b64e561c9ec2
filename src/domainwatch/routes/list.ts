import type { HttpServer } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { invalidCursor, nextLink } from '../../http/headers.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { decodeCursor } from '../list/cursor.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import {
  hasOwnCursor,
  listParameters,
  listRequest,
  type DomainLists,
  type Frame,
} from '../list/domain-lists.ts'
import { domainRecord, fieldsParameter, type RecordFields } from '../record-fields.ts'
import type { ObservedServers } from '../servers/index.ts'
import { orderRefused, RECORD_EXAMPLE } from '../schemas.ts'
import { answer, array, integer, string } from '../../http/openapi/json-schema.ts'

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

const parameters = {
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

export function listRoute(
  app: HttpServer,
  shared: EndpointShared,
  lists: DomainLists,
  records: RecordFields,
  servers: ObservedServers,
  baseUrl: () => string,
) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/list',
    ignoresUnknown: true,
    parameters,
    document: {
      operation: 'listDomains',
      summary: 'List recorded domains',
      description: `Returns at most ${MAX_PAGE_RECORDS.toLocaleString('en')} records, the newest first. If there are more, the \`Link\` header has the address of the next page.`,
      answers: { 200: listAnswer, 400: orderRefused },
    },

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
