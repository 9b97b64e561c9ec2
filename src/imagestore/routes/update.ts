import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { integer, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { secondsOf, type Clock } from '../../lib/clock.ts'
import { editParameters } from '../edits.ts'
import { imageErrors } from '../errors.ts'
import { toAnswer } from '../image-fields.ts'
import { isImageHash } from '../image-hash.ts'
import type { ImageStore } from '../store.ts'
import { MAX_EPOCH_SECONDS, nameParameter, notInFuture } from '../upload-input.ts'
import { uploaderOf } from '../uploaders.ts'
import { getAnswer, hashParameter } from './image.ts'

const seconds = integer('', 0, MAX_EPOCH_SECONDS)

const expires: Parameter<number | null> = {
  required: false,
  description: 'Expiry time, in seconds since 1970-01-01 UTC; empty for never',
  schema: { type: ['integer', 'string'] },
  example: 1_893_456_000,
  parse: (text) => (text === '' ? { value: null } : seconds.parse(text)),
}

export function updateRoute(
  app: HttpServer,
  shared: EndpointShared,
  store: ImageStore,
  baseUrl: () => string,
  clock: Clock,
) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['upload'],
    methods: ['POST'],
    path: '/api/v1/imagestore/update',
    parameters: { hash: hashParameter, name: nameParameter('New name'), expires, ...editParameters },
    document: {
      operation: 'updateImage',
      summary: 'Edit an image',
      description:
        'Changes only the given fields, and returns the details as `get` does. A key of scope `upload` edits what it uploaded itself, unless others of the ' +
        'application uploaded it too.',
      answers: {
        200: { ...getAnswer, description: 'Details of the image after the change' },
        400: problem('A parameter is invalid', notInFuture()),
        403: problem('Another key of the application uploaded the image too', imageErrors.image_shared()),
        404: problem('This application has no such image', imageErrors.image_not_found()),
      },
    },

    async handle({ identity, values: { hash = '', ...changes } }) {
      if (typeof changes.expires === 'number' && changes.expires <= secondsOf(clock)) throw notInFuture()
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      const image = await store.update(identity.accountId, hash, changes, uploaderOf(identity))
      if (image === 'shared') throw imageErrors.image_shared()
      if (image === undefined) throw imageErrors.image_not_found()
      return { status: 200, ...toAnswer('get', image, baseUrl()) }
    },
  })
}
