import type { HttpServer } from '../../http/server.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { invalidCursor, toPage } from '../../http/headers.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { choice, flag, integer, text, type Parameter } from '../../http/parameters.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'
import { isStorable } from '../../lib/text.ts'
import { decodeUtf8 } from '../../lib/bytes.ts'
import { tagParameter } from '../edits.ts'
import {
  toAnswer,
  toExample,
  toSchemas,
  EXAMPLE,
  schemaOf,
  type ImageRow,
  isImageHash,
} from '../image-fields.ts'
import {
  currentCount,
  imagePage,
  selectedCount,
  SORTED_CHARACTERS,
  type ImageOrder,
  findImage,
} from '../queries.ts'
import { MAX_NAME_CHARACTERS, timeParameter } from '../upload-input.ts'
import type { ImageRoutes } from '../open.ts'
import { isFlatHash, isHash64, mirrorHash } from '../../lib/perceptual-hash/index.ts'
import { isCurrent } from '../image-records.ts'
import { imageErrors } from '../errors.ts'
import { hashParameter } from './image.ts'

const MAX_PAGE = 1_024
const DEFAULT_PAGE = 100
const MAX_CURSOR = 1_000

const parameters = {
  search: text('Only images whose name contains this text', MAX_NAME_CHARACTERS),
  tag: tagParameter('Only images with this tag'),
  mime: choice('Only images of this type', Object.values(mimeOf)),
  from: timeParameter('Only images uploaded at this time or later'),
  to: timeParameter('Only images uploaded at this time or earlier'),
  group: flag(
    'Whether to list only the newest of the images with the same `dhash`, with the number of the others as `duplicates`',
  ),
  trash: flag('The images in the trash, with `trashed_at`, in place of the others'),
  order: choice(
    `Sort key, by default \`date\`; names are sorted by their first ${SORTED_CHARACTERS} characters, ignoring case`,
    ['date', 'name', 'size'],
  ),
  sort: choice('Sort direction; by default `asc` for names and `desc` otherwise', ['asc', 'desc']),
  limit: integer(`Images per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
  cursor: text('Cursor of the page, from the `Link` header of the previous one', MAX_CURSOR),
}

const listAnswer = schema.answer(
  {
    count: schema.integer('Number of images returned'),
    total: schema.integer('Number of images on all pages'),
    data: schema.array(
      schema.object(
        {
          ...toSchemas('list'),
          duplicates: schema.optional(
            schema.integer('Number of other images with the same dhash; only with `group`'),
          ),
          trashed_at: schema.optional(
            schema.integer('With `trash`: when the image was moved there, seconds since 1970-01-01 UTC'),
          ),
        },
        { title: 'Image' },
      ),
    ),
  },
  'Images of the application',
  { count: 1, total: 1, data: [toExample('list')] },
)

export function imageListRoute(app: HttpServer, images: ImageRoutes): void {
  const { database, baseUrl, clock } = images
  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/list',
    scopes: ['read'],
    parameters,
    operation: 'listImages',
    summary: 'List the images of the application',
    description:
      'Lists the newest images first, unless `order` says otherwise. If there are more, the `Link` header has the address of the next page.',
    answers: { 200: listAnswer },

    async handle({ identity: { accountId }, values, request, reply }) {
      const { limit = DEFAULT_PAGE, cursor, order = 'date', tag, mime, from, to, trash, group } = values
      const { sort = order === 'name' ? 'asc' : 'desc' } = values
      const { dialect } = database
      const search = values.search?.toLowerCase() || undefined
      const now = secondsOf(clock)
      const selection = { accountId, now, search, tag, mime, from, to, trash, grouped: group }
      const after = cursor === undefined ? undefined : readCursor(cursor, order)
      const page = { ...selection, order, ascending: sort === 'asc', after, limit: limit + 1 }
      const isWhole = [search, tag, mime, from, to].every((value) => value === undefined) && !trash && !group
      const reader = isWhole
        ? database.readerOf(accountClient(accountId))
        : database.scannerOf(accountId, clientAbort(reply.raw))
      const count = isWhole ? currentCount(accountId, now) : selectedCount(dialect, selection)
      const [rows, total] = await Promise.all([reader.all(imagePage(dialect, page)), reader.first(count)])
      const exchange = { request, reply }
      const shown = toPage(exchange, baseUrl, rows, limit, (last) => writeCursor(last.sort_key, last.hash))
      const data = shown.map((row) => ({
        ...toAnswer('list', row, baseUrl()),
        ...(row.duplicates === undefined ? {} : { duplicates: row.duplicates }),
        ...(row.trashed_at === null ? {} : { trashed_at: row.trashed_at }),
      }))
      return { status: 200, count: data.length, total: total?.count ?? 0, data }
    },
  })
}

const writeCursor = (key: number | string, hash: string): string =>
  `${typeof key === 'number' ? key : Buffer.from(key).toString('base64url')}.${hash}`

function readCursor(text: string, order: ImageOrder): { key: number | string; hash: string } {
  const pattern = order === 'name' ? /^([\w-]+)\.(.+)$/ : /^(0|[1-9]\d{0,11})\.(.+)$/
  const [, key = '', hash = ''] = pattern.exec(text) ?? []
  const name = order === 'name' ? decodeUtf8(Buffer.from(key, 'base64url')) : undefined
  if (!isImageHash(hash) || (order === 'name' && (name === undefined || !isStorable(name))))
    throw invalidCursor()
  return { key: name ?? Number(key), hash }
}

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
