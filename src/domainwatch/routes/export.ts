import type { HttpServer } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { POOLS } from '../../lib/pools.ts'
import { choice } from '../../http/parameters.ts'
import { StreamLimiter } from '../events/stream-limiter.ts'
import { EXPORT_FORMATS, exportFormats, type FurtherExport, exportText } from '../export.ts'
import { listParameters, listRequest, type DomainLists } from '../list/domain-lists.ts'
import { fieldsParameter, type RecordFields } from '../record-fields.ts'
import { orderRefused } from '../schemas.ts'
import type { ObservedServers } from '../servers/index.ts'
import { string } from '../../http/openapi/json-schema.ts'
import { Readable } from 'node:stream'

/** Not JSON: the schema only documents it. */
const exportAnswer = {
  description: 'Records, one per line; CSV begins with a line of field names',
  content: {
    'text/csv': { schema: string() },
    'application/x-ndjson': { schema: string() },
  },
}

const parameters = {
  ...listParameters,
  format: choice('Format of the records', EXPORT_FORMATS),
  fields: fieldsParameter,
}

export function exportRoute(
  app: HttpServer,
  shared: EndpointShared,
  lists: DomainLists,
  records: RecordFields,
  servers: ObservedServers,
  timeZone: string,
) {
  const { running, perClient } = POOLS.streams
  const streams = new StreamLimiter(running, undefined, perClient)
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/export',
    parameters,
    document: {
      operation: 'exportDomains',
      summary: 'Export all matching records',
      description:
        'Streams all records that the filters of `list` match, newest first, as CSV (the default) or one JSON object per line. `catalejo import` reads both.',
      answers: { 200: exportAnswer, 400: orderRefused },
    },

    async handle({ values, identity, request, reply }) {
      const { format = 'csv', fields } = values
      const { accountId } = identity
      const asked = listRequest(values)
      const selection = { ...asked, filters: await servers.narrow(asked.filters, values, accountId) }
      await lists.assertOrder(selection)
      if (request.method !== 'HEAD') streams.open(identity.accountId, reply.raw)
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
