import type { HttpServer } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { integer } from '../../http/parameters.ts'
import { secondsOf } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import { EXAMPLE, schemaOf } from '../image-fields.ts'
import { findLimits, trashTotal, usageAt, type Total, type Usage } from '../queries-settings.ts'
import type { ImageRoutes } from '../open.ts'

const MAX_DAYS = 3_660
const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000

const parameters = {
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
    parameters,
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
