import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { isImageHash } from '../image-hash.ts'
import { deleteAnswer } from '../schemas.ts'
import type { ImageStore } from '../store.ts'
import { uploaderOf } from '../uploaders.ts'
import { hashParameter, noImage } from './get.ts'

export function deleteRoute(app: HttpServer, shared: EndpointShared, store: ImageStore) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['upload'],
    methods: ['POST', 'DELETE'],
    path: '/api/v1/imagestore/delete',
    parameters: { hash: hashParameter },
    document: {
      tag: 'imagestore',
      summary: 'Delete an image',
      description:
        'The public link stops working, unless another application holds the same bytes. A key of scope `upload` ' +
        'deletes what it uploaded itself; what others of the application uploaded too stays for them.',
      answers: {
        200: deleteAnswer,
        404: problem('This application has no such image', noImage()),
      },
    },

    async handle({ identity, values: { hash } }) {
      const removed =
        hash !== undefined &&
        isImageHash(hash) &&
        (await store.remove(identity.accountId, hash, uploaderOf(identity)))
      if (!removed) throw noImage()
      return { status: 200, hash }
    },
  })
}
