import { simpleEndpoint } from '../../http/endpoint.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { badParameter } from '../../http/errors.ts'
import { integer, text } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { isFlatHash } from '../../lib/perceptual-hash/index.ts'
import { MAX_BANS } from '../bans.ts'
import type { BanRow } from '../queries-settings.ts'
import { imageErrors } from '../errors.ts'
import { EXAMPLE, schemaOf } from '../image-fields.ts'
import { isImageHash } from '../image-hash.ts'
import { hashParameter } from './image.ts'
import type { ImageRoutes } from './image-routes.ts'
import { dhashParameter } from './similar.ts'

const MAX_DISTANCE = 8
const DEFAULT_DISTANCE = 4
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
  distance: DEFAULT_DISTANCE,
  date: 1_767_202_234,
}

const toBan = ({ created_at: at, ...ban }: BanRow) => ({ ...ban, date: Math.floor(at / 1_000) })

/** Pictures that an application refuses. */
export function bansRoutes(app: HttpServer, images: ImageRoutes): void {
  const { bans } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/bans',
    scopes: [],
    parameters: {
      hash: { ...hashParameter, required: false, description: 'Hash of an image' },
      dhash: dhashParameter,
      distance: integer(
        `Maximum number of bits in which the dhash may differ; default ${DEFAULT_DISTANCE}`,
        0,
        MAX_DISTANCE,
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

    async handle({ identity: { accountId }, values: { hash, dhash, distance = DEFAULT_DISTANCE } }) {
      if ((hash === undefined) === (dhash === undefined)) throw imageErrors.hash_or_dhash_missing()
      if (hash !== undefined && !isImageHash(hash)) throw badParameter('hash', 'debe ser el de una imagen')
      if (dhash !== undefined && isFlatHash(dhash))
        throw badParameter('dhash', 'debe ser el de una imagen con contraste')
      const target = hash === undefined ? { dhash: dhash ?? '' } : { hash }
      return { status: 200, ...toBan(await bans.create(accountId, target, distance)) }
    },
  })

  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/bans',
    scopes: [],
    parameters: {},
    operation: 'listBans',
    summary: 'List banned pictures',
    answers: {
      200: schema.answer(
        {
          count: schema.integer('Number of bans'),
          data: schema.array(schema.object(banFields, { title: 'Ban' }), 'Bans, the oldest first'),
        },
        'Bans of the application',
        { count: 1, data: [EXAMPLE_BAN] },
      ),
    },

    async handle({ identity }) {
      const data = (await bans.list(identity.accountId)).map(toBan)
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

    async handle({ identity, values: { id = '' } }) {
      if (!(await bans.remove(identity.accountId, id))) throw imageErrors.ban_not_found()
      return { status: 200, id }
    },
  })
}
