import type { HttpServer } from '../../http/server.ts'
import { badParameter } from '../../http/errors.ts'
import { clientAbort } from '../../http/client.ts'
import { parseLabelOrDomain } from '../../lib/domain-names.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { integer as integerParameter, text } from '../../http/parameters.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { recordFields, RECORD_EXAMPLE } from '../schemas.ts'
import { maxDistance } from '../lookalikes/search.ts'
import { answer, array, integer, number, object, string } from '../../http/openapi/json-schema.ts'
import { REASONS } from '../../lib/lookalikes/index.ts'
import type { DomainServices } from '../services.ts'

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

const DEFAULT_LIMIT = 100

export function similarRoute(app: HttpServer, shared: EndpointShared, { lookalikes }: DomainServices): void {
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
      limit: integerParameter(`Maximum number of records; default ${DEFAULT_LIMIT}`, 1, MAX_PAGE_RECORDS),
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
      const wanted = { name: label.name, limit: limit ?? DEFAULT_LIMIT, maxDistance: most }
      const { json, count } = await lookalikes.find(wanted, identity.accountId, left)
      return `{"status":200,"count":${count},"query":"${label.name}","data":[${json}]}`
    },
  })
}
