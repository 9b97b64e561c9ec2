import type { HttpServer } from '../../http/server.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { invalidCursor, toPage } from '../../http/headers.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { choice, flag, integer, text } from '../../http/parameters.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'
import { isStorable } from '../../lib/text.ts'
import { decodeUtf8 } from '../../lib/bytes.ts'
import { tagParameter } from '../edits.ts'
import { toAnswer, toExample, toSchemas, EXAMPLE, schemaOf, isImageHash } from '../image-fields.ts'
import { currentCount, imagePage, selectedCount, SORTED_CHARACTERS, type ImageOrder } from '../queries.ts'
import { findLimits, trashTotal, usageAt, type Total, type Usage } from '../queries-settings.ts'
import { MAX_NAME_CHARACTERS, timeParameter } from '../upload-input.ts'
import type { ImageRoutes } from '../open.ts'

const MAX_PAGE = 1_024
const DEFAULT_PAGE = 100
const MAX_CURSOR = 1_000

const listParameters = {
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
    parameters: listParameters,
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

const MAX_DAYS = 3_660
const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000

const statsParameters = {
  days: integer(`Number of the last days with uploads; default ${DEFAULT_DAYS}`, 1, MAX_DAYS),
}

const total = {
  images: schema.integer('Images'),
  bytes: schema.integer('Bytes of images as uploaded'),
}
const NOTHING = { images: 0, bytes: 0 }
const usageExample = { images: 1, bytes: EXAMPLE.size.example }

const statsAnswer = schema.answer(
  {
    ...total,
    trash: schema.object(total, { description: 'Images in the trash, which the quota counts too' }),
    max_images: {
      type: ['integer', 'null'],
      description: 'Image quota; null if unlimited',
    },
    max_bytes: { type: ['integer', 'null'], description: 'Byte quota; null if unlimited' },
    derivatives: schema.object({
      bytes: {
        type: 'integer',
        description:
          'Disk space that transformed images of all applications take on the machine that answers, at most an hour old',
      },
      max_bytes: {
        type: 'integer',
        description: 'Maximum disk space of transformed images; the least used are removed beyond it',
      },
    }),
    kinds: schema.array(schema.object({ mime: schemaOf('mime'), ...total })),
    days: schema.array(
      schema.object({
        day: schema.string({ format: 'date', description: 'Day of the uploads, in UTC' }),
        ...total,
      }),
    ),
  },
  'Usage and quotas of the application',
  {
    ...usageExample,
    trash: NOTHING,
    max_images: 100_000,
    max_bytes: null,
    derivatives: { bytes: 49_152, max_bytes: 1_073_741_824 },
    kinds: [{ mime: EXAMPLE.mime.example, ...usageExample }],
    days: [{ day: '2025-12-31', ...usageExample }],
  },
)

export function statsRoute(app: HttpServer, images: ImageRoutes): void {
  const { database, clock, config, derivatives } = images
  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/stats',
    scopes: ['read'],
    parameters: statsParameters,
    operation: 'getImageStats',
    summary: 'Get the usage and the quotas of the application',
    description:
      'Returns the current, exact usage without expired images, and the uploads of each day with uploads.',
    answers: { 200: statsAnswer },

    async handle({ identity: { accountId }, values: { days = DEFAULT_DAYS }, reply }) {
      const { max_images = null, max_bytes = null } =
        (await database.readerOf(accountClient(accountId)).first(findLimits(accountId))) ?? {}
      // One row for each day and kind: some thousand after years, however many images there are.
      const scanner = database.scannerOf(accountId, clientAbort(reply.raw))
      const now = secondsOf(clock)
      const [usage, trash] = await Promise.all([
        scanner.all(usageAt(accountId, now)),
        scanner.first(trashTotal(accountId, now)),
      ])
      const kinds = sumBy(usage, ({ mime }) => mime)
      const byDay = sumBy(usage, ({ day }) => new Date(day * DAY_MS).toISOString().slice(0, 10))
      return {
        status: 200,
        ...(sumBy(usage, () => '')[0]?.[1] ?? NOTHING),
        trash: trash ?? NOTHING,
        max_images,
        max_bytes,
        derivatives: { bytes: derivatives.bytes, max_bytes: config.derivativeCacheBytes },
        kinds: kinds.map(([mime, sum]) => ({ mime, ...sum })),
        days: byDay
          .toReversed()
          .slice(0, days)
          .map(([day, sum]) => ({ day, ...sum })),
      }
    },
  })
}

/** Totals by name, in order of the names, without those that are zero. */
function sumBy(usage: readonly Usage[], nameOf: (row: Usage) => string): [name: string, total: Total][] {
  const sums = new Map<string, Total>()
  for (const row of usage) {
    const { images, bytes } = sums.get(nameOf(row)) ?? NOTHING
    sums.set(nameOf(row), { images: images + row.images, bytes: bytes + row.bytes })
  }
  return [...sums].filter(([, { images }]) => images !== 0).sort(([one], [other]) => (one < other ? -1 : 1))
}
