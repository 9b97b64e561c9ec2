import type { HttpServer } from '../../http/server.ts'
import { secondsOf, type Clock } from '../../lib/clock.ts'
import { accountClient } from '../../lib/client.ts'
import type { Database } from '../../storage/database/database.ts'
import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint, type EndpointShared } from '../../http/endpoint.ts'
import { invalidCursor, nextLink } from '../../http/headers.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { flag, integer, text } from '../../http/parameters.ts'
import { exampleOf, linkField, linkTo, schemasOf } from '../image-fields.ts'
import { isImageHash } from '../image-hash.ts'
import { imagePage } from '../queries.ts'
import { MAX_NAME_CHARACTERS } from '../upload-input.ts'

const MAX_PAGE = 1_024
const DEFAULT_PAGE = 100

const parameters = {
  search: text('Only images whose name contains this text', MAX_NAME_CHARACTERS),
  group: flag(
    'Of the images with the same `dhash` only the newest, with `duplicates`, the number of the others',
  ),
  limit: integer(`Images in a page, ${DEFAULT_PAGE} unless given`, 1, MAX_PAGE),
  cursor: text('Where the page starts: from the `Link` header of the one before', 100),
}

const listAnswer = schema.answer(
  {
    count: schema.integer('Images returned'),
    data: schema.array(
      schema.object({
        ...schemasOf('list'),
        link: linkField.schema,
        duplicates: schema.optional(
          schema.integer('With `group`: number of other images with the same dhash'),
        ),
      }),
    ),
  },
  "The application's own images, newest first",
  { count: 1, data: [{ ...exampleOf('list'), link: linkField.example }] },
)

export function imageListRoute(
  app: HttpServer,
  shared: EndpointShared,
  database: Database,
  baseUrl: () => string,
  clock: Clock,
) {
  simpleEndpoint(app, shared, {
    service: 'imagestore',
    scopes: ['read'],
    methods: ['GET'],
    path: '/api/v1/imagestore/list',
    parameters,
    document: {
      summary: "List the application's own images",
      description:
        'Newest first. When there are more, the `Link` header carries the address of the next page.',
      answers: { 200: listAnswer },
    },

    async handle({ identity, values, request, reply }) {
      const { search = '', limit = DEFAULT_PAGE, group } = values
      const after = values.cursor === undefined ? undefined : readCursor(values.cursor)
      const query = imagePage(database.dialect, {
        accountId: identity.accountId,
        now: secondsOf(clock),
        grouped: group,
        search: search === '' ? undefined : search.toLowerCase(),
        after,
        // One more than shown reveals whether there is a next page.
        limit: limit + 1,
      })
      const { accountId } = identity
      const isSmall = search === '' && !group
      const reader = isSmall
        ? database.readerOf(accountClient(accountId))
        : database.scannerOf(accountId, clientAbort(reply.raw))
      const rows = await reader.all(query)
      const data = rows.slice(0, limit).map((row) => ({ ...row, link: linkTo(baseUrl(), row.hash) }))
      const last = data.at(-1)
      if (rows.length > limit && last !== undefined) {
        reply.header('link', nextLink(baseUrl, request.raw.url ?? '', `${last.date}.${last.hash}`))
      }
      return { status: 200, count: data.length, data }
    },
  })
}

function readCursor(text: string): { date: number; hash: string } {
  const [, date = '', hash = ''] = /^(0|[1-9]\d{0,11})\.(.+)$/.exec(text) ?? []
  if (!isImageHash(hash)) throw invalidCursor()
  return { date: Number(date), hash }
}
