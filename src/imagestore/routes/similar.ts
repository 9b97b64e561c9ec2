import type { HttpServer } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { flag, integer, type Parameter } from '../../http/parameters.ts'
import { isImageHash } from '../image-hash.ts'
import { EXAMPLE, schemaOf, toAnswer, toExample, toSchemas, type ImageRow } from '../image-fields.ts'
import { findImage } from '../queries.ts'
import { isFlatHash, isHash64, mirrorHash } from '../../lib/perceptual-hash/index.ts'
import { isCurrent } from '../uploaders.ts'
import { imageErrors } from '../errors.ts'
import { hashParameter } from './image.ts'
import type { ImageRoutes } from './image-routes.ts'

const MAX_DISTANCE = 16
const DEFAULT_DISTANCE = 10
const MAX_IMAGES = 1_024
const DEFAULT_IMAGES = 100

export const dhashParameter: Parameter<string> = {
  required: false,
  description: 'Difference hash, in place of an image',
  schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  parse: (text) => {
    const value = text.toLowerCase()
    return isHash64(value) ? { value } : { takes: 'debe tener 16 dígitos hexadecimales' }
  },
}

const parameters = {
  hash: { ...hashParameter, required: false },
  dhash: dhashParameter,
  distance: integer(
    `Maximum number of bits of the dhash that may differ; default ${DEFAULT_DISTANCE}`,
    0,
    MAX_DISTANCE,
  ),
  mirrored: flag('Whether to find images that look like the mirrored picture'),
  limit: integer(`Maximum number of images; default ${DEFAULT_IMAGES}`, 1, MAX_IMAGES),
}

const similarAnswer = schema.answer(
  {
    count: schema.integer('Number of images returned'),
    dhash: { ...schemaOf('dhash'), description: 'Difference hash that the images were compared with' },
    data: schema.array(
      schema.object({
        ...toSchemas('list'),
        distance: schema.integer('Number of bits of the dhash that differ'),
      }),
    ),
  },
  'Images of the application that look alike, the nearest first',
  {
    count: 1,
    dhash: EXAMPLE.dhash.example,
    data: [{ ...toExample('list'), distance: 0 }],
  },
)

export function similarRoute(app: HttpServer, images: ImageRoutes): void {
  const { database, clock, similar, baseUrl } = images
  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/similar',
    scopes: ['read'],
    parameters,
    operation: 'findSimilarImages',
    summary: 'Find images of the application that look alike',
    description:
      'Compares with `hash`, an image of the application, which is then the first result, or with `dhash`. Sorts by distance, ' +
      'then by dhash, then by hash. No image within the distance is missed, except pictures without ' +
      'contrast, whose dhash is 0: they never match.',
    answers: {
      200: similarAnswer,
      400: schema.problem(
        'Neither or both of `hash` and `dhash` are given',
        imageErrors.hash_or_dhash_missing(),
      ),
      404: schema.problem('This application has no such image', imageErrors.image_not_found()),
    },

    async handle({ identity: { accountId }, values, reply }) {
      const { distance = DEFAULT_DISTANCE, limit = DEFAULT_IMAGES } = values
      if ((values.hash === undefined) === (values.dhash === undefined)) {
        throw imageErrors.hash_or_dhash_missing()
      }
      const image = values.dhash === undefined ? await imageNamed(accountId, values.hash ?? '') : undefined
      const given = image?.dhash ?? values.dhash ?? ''
      const wanted = values.mirrored === true ? mirrorHash(given) : given
      const alike =
        image !== undefined && isFlatHash(given)
          ? [{ ...image, distance: 0 }]
          : await similar.find(accountId, wanted, distance, limit, clientAbort(reply.raw))
      const data = alike.map((found) => ({
        ...toAnswer('list', found, baseUrl()),
        distance: found.distance,
      }))
      return { status: 200, count: data.length, dhash: wanted, data }
    },
  })

  async function imageNamed(accountId: number, hash: string): Promise<ImageRow> {
    const reader = database.readerOf(accountClient(accountId))
    const image = isImageHash(hash) ? await reader.first(findImage(accountId, hash)) : undefined
    if (image === undefined || !isCurrent(image, secondsOf(clock))) throw imageErrors.image_not_found()
    return image
  }
}
