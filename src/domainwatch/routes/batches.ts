import { bulkEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import type { EndpointDocument } from '../../http/openapi/document.ts'
import type { HttpServer } from '../../http/server.ts'
import { batchError, saveBatch, type DomainBatches } from '../batches.ts'
import { DISCARDED_RETENTION_DAYS } from '../limits.ts'
import { addBody, batchProblem, storedAnswer, unreadableBatch } from '../schemas.ts'
import { changedRecords, updateBody } from '../schemas-update.ts'

/** 50,000 records are some 5 MB of JSON; url-encoding may triple that. */
export const BATCH_BODY_BYTES = 32 * 1024 * 1024

interface BatchEndpoint extends Pick<EndpointDocument, 'summary' | 'description' | 'body' | 'answers'> {
  readonly operation: 'add' | 'update'
  /** The status for a body that is not a list of records. */
  readonly unreadable: 400 | 500
}

const ADD: BatchEndpoint = {
  operation: 'add',
  unreadable: 500,
  summary: 'Record domains in bulk',
  description:
    'A domain that is recorded already is updated in place. All of the batch is stored, or nothing.',
  body: addBody,
  answers: { 200: storedAnswer, 500: batchProblem },
}

const UPDATE: BatchEndpoint = {
  operation: 'update',
  unreadable: 400,
  summary: 'Mark recorded domains',
  description:
    `Sets the marks that are given and leaves the others. A discarded record deletes itself ${DISCARDED_RETENTION_DAYS} days after it was ` +
    'marked, unless the mark is removed before. A new status makes a record unseen. All of the batch is stored, or nothing.',
  body: updateBody,
  answers: { 200: storedAnswer, 400: unreadableBatch, 409: changedRecords, 500: batchProblem },
}

/** Adds the endpoints that store a batch of records as a whole. */
export function batchRoutes(app: HttpServer, shared: EndpointShared, batches: DomainBatches): void {
  for (const { operation, unreadable, ...document } of [ADD, UPDATE]) {
    bulkEndpoint(app, shared, {
      service: 'domainwatch',
      scopes: ['write'],
      methods: ['POST'],
      path: `/api/v1/domainwatch/${operation}`,
      bodyLimit: BATCH_BODY_BYTES,
      parameters: {},
      document: { tag: 'domainwatch', ...document },

      async handle({ body, identify, request }) {
        const { api, batch } = await batches.read(operation, body)
        const identity = await identify(api)
        switch (batch.kind) {
          case 'unreadable':
            throw batchError(unreadable, batch.msg)
          case 'faulty':
            throw batchError(500, batch.msg, batch.faults)
          case 'rows':
            return { status: 200, count: await saveBatch(request, () => batches[operation](identity, batch)) }
        }
      },
    })
  }
}
