import type { HttpServer } from '../../http/server.ts'
import { HttpError } from '../../lib/errors.ts'
import { parseLabelOrDomain } from '../../lib/domain-names.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { integer, text } from '../../http/parameters.ts'
import { MAX_FILTER_CHARACTERS } from '../filter-kinds.ts'
import { MAX_PAGE_RECORDS } from '../limits.ts'
import { similarAnswer } from '../schemas.ts'
import type { LookalikeSearch } from '../lookalikes/search.ts'

const DEFAULT_LIMIT = 100

export function similarRoute(app: HttpServer, shared: EndpointShared, lookalikes: LookalikeSearch) {
  simpleEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['read', 'write'],
    methods: ['GET'],
    path: '/api/v1/domainwatch/similar',
    parameters: {
      domain: {
        ...text('Name, with or without `.cl`', MAX_FILTER_CHARACTERS),
        required: true,
        example: 'mibanco',
      },
      limit: integer(`Records, the best ones; ${DEFAULT_LIMIT} unless given`, 1, MAX_PAGE_RECORDS),
    },
    document: {
      tag: 'domainwatch',
      summary: 'Recorded domains that resemble one',
      description:
        'Names that may be confused with it: a letter added, missing or replaced, letters that look the same, accents, ' +
        'hyphens, words added. Best first, each with its reason.',
      answers: { 200: similarAnswer },
    },

    async handle({ values: { domain, limit }, identity }) {
      const label = parseLabelOrDomain(domain ?? '')
      if (!label.ok) {
        throw new HttpError(
          400,
          'El parámetro domain debe ser un nombre de dominio .cl válido, con o sin el sufijo',
        )
      }
      const { json, count } = await lookalikes.find(label.name, limit ?? DEFAULT_LIMIT, identity.accountId)
      return `{"status":200,"count":${count},"query":"${label.name}","data":[${json}]}`
    },
  })
}
