import type { FastifyInstance } from 'fastify'
import { Refusal } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { text } from '../../http/parameters.ts'
import { isImageHash } from '../hash.ts'
import { imageOf } from '../queries.ts'
import { getAnswer, problem } from '../schemas.ts'

export const NO_IMAGE = 'La imagen no existe'

/** A hash of any length is a text: what names no image is answered 404, not 400. */
export const hashParameter = text("The image's hash", 65_536)

export function getRoute(app: FastifyInstance, shared: EndpointShared, database: Database) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    methods: ['GET'],
    path: '/api/v1/imagestore/get',
    parameters: { hash: hashParameter },
    document: {
      tag: 'imagestore',
      summary: 'What is known of an image',
      answers: {
        200: getAnswer,
        401: problem('No key, or no `hash`', 401, 'Ha fallado la solicitud'),
        404: problem('This application has no such image', 404, NO_IMAGE),
      },
    },

    async handle({ identity, values: { hash } }) {
      if (hash === undefined || hash === '') throw new Refusal(401, 'Ha fallado la solicitud')
      const image = isImageHash(hash) ? await database.first(imageOf(identity.accountId, hash)) : undefined
      if (image === undefined) throw new Refusal(404, NO_IMAGE)
      const { name, mime, width, height, size, date } = image
      return { status: 200, name, hash, mime, width, height, size, date }
    },
  })
}
