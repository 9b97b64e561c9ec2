import type { HttpServer } from '../../http/server.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { badParameter } from '../../http/errors.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { flag, integer, text, type Parameter } from '../../http/parameters.ts'
import { isFlatHash, isHash64, mirrorHash } from '../../lib/perceptual-hash/index.ts'
import { randomId } from '../../storage/database/database.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import { imageErrors } from '../errors.ts'
import {
  toAnswer,
  toExample,
  toSchemas,
  EXAMPLE,
  schemaOf,
  type ImageRow,
  isImageHash,
} from '../image-fields.ts'
import { isCurrent } from '../image-records.ts'
import type { ImageRoutes } from '../open.ts'
import { findImage } from '../queries.ts'
import * as queries from '../queries-settings.ts'
import { hashParameter } from './image.ts'

const MAX_DISTANCE = 16
const DEFAULT_DISTANCE = 10
const MAX_IMAGES = 1_024
const DEFAULT_IMAGES = 100

const dhashParameter: Parameter<string> = {
  required: false,
  description: 'Difference hash, in place of an image',
  schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  parse: (text) => {
    const value = text.toLowerCase()
    return isHash64(value) ? { value } : { takes: 'debe tener 16 dígitos hexadecimales' }
  },
}

const similarParameters = {
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
    parameters: similarParameters,
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

/** Bans of an application: each of its uploads reads all of them. */
const MAX_BANS = 1_000
const MAX_BAN_DISTANCE = 8
const DEFAULT_BAN_DISTANCE = 4
const MAX_ID_CHARACTERS = 100

const banFields = {
  id: schema.string('ID of the ban'),
  hash: schema.nullable({ ...schemaOf('hash'), description: 'Hash of the refused bytes' }),
  dhash: schema.nullable({
    ...schemaOf('dhash'),
    description: 'Difference hash of the refused pictures; null if only the bytes are compared',
  }),
  distance: schema.integer('Maximum number of bits in which the dhash of a refused picture differs'),
  date: schema.integer('Creation time of the ban, in seconds since 1970-01-01 UTC'),
}
const EXAMPLE_BAN = {
  id: 'k3J9x0aQ_-Zb',
  hash: EXAMPLE.hash.example,
  dhash: EXAMPLE.dhash.example,
  distance: DEFAULT_BAN_DISTANCE,
  date: 1_767_202_234,
}

const toBan = ({ created_at: at, ...ban }: queries.BanRow) => ({ ...ban, date: Math.floor(at / 1_000) })

export function bansRoutes(app: HttpServer, images: ImageRoutes): void {
  const { clock, database } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/bans',
    scopes: [],
    parameters: {
      hash: { ...hashParameter, required: false, description: 'Hash of an image' },
      dhash: dhashParameter,
      distance: integer(
        `Maximum number of bits in which the dhash may differ; default ${DEFAULT_BAN_DISTANCE}`,
        0,
        MAX_BAN_DISTANCE,
      ),
    },
    operation: 'createBan',
    summary: 'Ban a picture',
    description:
      'Refuses later uploads of the application that are these bytes or look like the picture: 403 `image_banned`. An ' +
      'image that the application does not hold, and one without contrast, is banned by its `hash` only.',
    answers: {
      200: schema.answer(banFields, 'The ban', EXAMPLE_BAN),
      400: schema.problem(
        'Neither or both of `hash` and `dhash` are given',
        imageErrors.hash_or_dhash_missing(),
      ),
      409: schema.problem(
        'The application has the maximum number of bans',
        imageErrors.too_many_bans(MAX_BANS),
      ),
    },

    async handle({ identity: { accountId }, values: { hash, dhash, distance = DEFAULT_BAN_DISTANCE } }) {
      if ((hash === undefined) === (dhash === undefined)) throw imageErrors.hash_or_dhash_missing()
      if (hash !== undefined && !isImageHash(hash)) throw badParameter('hash', 'debe ser el de una imagen')
      if (dhash !== undefined && isFlatHash(dhash))
        throw badParameter('dhash', 'debe ser el de una imagen con contraste')
      const ban = await database.transaction(async (tx) => {
        // Concurrent requests of an application cannot exceed the limit together.
        await tx.first(lockAccount(database.dialect, accountId))
        if ((await tx.all(queries.allBans(accountId))).length >= MAX_BANS)
          throw imageErrors.too_many_bans(MAX_BANS)
        const looks = hash === undefined ? dhash : (await tx.first(findImage(accountId, hash)))?.dhash
        const row = {
          id: randomId(),
          hash: hash ?? null,
          dhash: looks === undefined || isFlatHash(looks) ? null : looks,
          distance,
          created_at: clock.now(),
        }
        await tx.run(queries.insertBan(accountId, row))
        return row
      }, accountId)
      return { status: 200, ...toBan(ban) }
    },
  })

  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/bans',
    scopes: [],
    parameters: {},
    operation: 'listBans',
    summary: 'List banned pictures',
    answers: {
      200: schema.listAnswer(
        schema.object(banFields, { title: 'Ban' }),
        { count: 'Number of bans', data: 'Bans, the oldest first', description: 'Bans of the application' },
        EXAMPLE_BAN,
      ),
    },

    async handle({ identity: { accountId } }) {
      const bans = await database.readerOf(accountClient(accountId)).all(queries.allBans(accountId))
      bans.sort((one, other) => one.created_at - other.created_at || (one.id < other.id ? -1 : 1))
      const data = bans.map(toBan)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, images, {
    route: 'DELETE /api/v1/imagestore/bans',
    scopes: [],
    parameters: {
      id: { ...text('ID of the ban', MAX_ID_CHARACTERS), required: true, example: EXAMPLE_BAN.id },
    },
    operation: 'deleteBan',
    summary: 'Lift a ban',
    answers: {
      200: schema.answer({ id: banFields.id }, 'The ban was lifted', { id: EXAMPLE_BAN.id }),
      404: schema.problem('This application has no such ban', imageErrors.ban_not_found()),
    },

    async handle({ identity: { accountId }, values: { id = '' } }) {
      const removed = await database.transaction((tx) => tx.run(queries.deleteBan(accountId, id)), accountId)
      if (removed === 0) throw imageErrors.ban_not_found()
      return { status: 200, id }
    },
  })
}
