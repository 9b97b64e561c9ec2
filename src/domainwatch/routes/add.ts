import type { HttpServer } from '../../http/server.ts'
import { bulkEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { batchError, saveBatch, type DomainBatches } from '../batches.ts'
import { addBody, batchProblem, storedAnswer } from '../schemas.ts'

/** 50,000 records are some 5 MB of JSON; url-encoding may triple that. */
export const BATCH_BODY_BYTES = 32 * 1024 * 1024

export function addRoute(app: HttpServer, shared: EndpointShared, batches: DomainBatches) {
  bulkEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['write'],
    methods: ['POST'],
    path: '/api/v1/domainwatch/add',
    bodyLimit: BATCH_BODY_BYTES,
    parameters: {},
    document: {
      tag: 'domainwatch',
      summary: 'Record domains in bulk',
      description:
        'A domain that is recorded already is updated in place. All of the batch is stored, or nothing.',
      body: addBody,
      answers: { 200: storedAnswer, 500: batchProblem },
    },

    async handle({ body, identify, request }) {
      const { api, batch } = await batches.read('add', body)
      const identity = await identify(api)
      switch (batch.kind) {
        case 'unreadable':
          throw batchError(500, batch.msg)
        case 'faulty':
          throw batchError(500, batch.msg, batch.faults)
        case 'rows':
          return { status: 200, count: await saveBatch(request, () => batches.add(identity, batch)) }
      }
    },
  })
}
