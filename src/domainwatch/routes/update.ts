import type { HttpServer } from '../../http/server.ts'
import { bulkEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { batchError, saveBatch, type DomainBatches } from '../batches.ts'
import { batchProblem, storedAnswer, unreadableBatch } from '../schemas.ts'
import { changedRecords, updateBody } from '../schemas-update.ts'
import { BATCH_BODY_BYTES } from './add.ts'
import { DISCARDED_RETENTION_DAYS } from '../limits.ts'

export function updateRoute(app: HttpServer, shared: EndpointShared, batches: DomainBatches) {
  bulkEndpoint(app, shared, {
    service: 'domainwatch',
    scopes: ['write'],
    methods: ['POST'],
    path: '/api/v1/domainwatch/update',
    bodyLimit: BATCH_BODY_BYTES,
    parameters: {},
    document: {
      tag: 'domainwatch',
      summary: 'Mark recorded domains',
      description:
        `Sets the marks that are given and leaves the others. A discarded record deletes itself ${DISCARDED_RETENTION_DAYS} days after it was ` +
        'marked, unless the mark is removed before. A new status makes a record unseen. All of the batch is stored, or nothing.',
      body: updateBody,
      answers: { 200: storedAnswer, 400: unreadableBatch, 409: changedRecords, 500: batchProblem },
    },

    async handle({ body, identify, request }) {
      const { api, batch } = await batches.read('update', body)
      const identity = await identify(api)
      switch (batch.kind) {
        case 'unreadable':
          throw batchError(400, batch.msg)
        case 'faulty':
          throw batchError(500, batch.msg, batch.faults)
        case 'rows':
          return { status: 200, count: await saveBatch(request, () => batches.update(identity, batch)) }
      }
    },
  })
}
