import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { integer } from '../../http/parameters.ts'
import { statsAnswer } from '../schemas.ts'
import type { ImageStats } from '../quotas.ts'

const MAX_DAYS = 3_660
const DEFAULT_DAYS = 30

const parameters = {
  days: integer(`The last days on which images came, ${DEFAULT_DAYS} unless given`, 1, MAX_DAYS),
}

export function statsRoute(app: HttpServer, shared: EndpointShared, stats: ImageStats) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['read'],
    methods: ['GET'],
    path: '/api/v1/imagestore/stats',
    parameters,
    document: {
      tag: 'imagestore',
      summary: 'What the application holds, and what it may hold',
      description:
        'As of now, to the byte: images that expired are not counted. Of days only those with images.',
      answers: { 200: statsAnswer },
    },

    async handle({ identity, values: { days = DEFAULT_DAYS } }) {
      return { status: 200, ...(await stats(identity.accountId, days)) }
    },
  })
}
