import { missingParameter } from '../../http/errors.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { toPage } from '../../http/headers.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { integer, text, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { accountClient } from '../../lib/client.ts'
import { secondsOf } from '../../lib/clock.ts'
import { isCurrent } from '../image-records.ts'
import { findLifetime, lockBlob } from '../queries.ts'
import * as queries from '../queries-settings.ts'
import { imageErrors } from '../errors.ts'
import { EXAMPLE, schemaOf, isImageHash } from '../image-fields.ts'
import { isAliasName, MAX_ALIAS_CHARACTERS, toLinkId } from '../links/link.ts'
import { hashParameter } from './image.ts'
import type { ImageRoutes } from '../open.ts'

const MAX_PAGE = 1_024
const DEFAULT_PAGE = 100

const name: Parameter<string> = {
  required: true,
  description: 'Alias',
  schema: { type: 'string', pattern: `^[a-z0-9_-]{1,${MAX_ALIAS_CHARACTERS}}$` },
  example: 'portada',
  parse: (value) =>
    isAliasName(value)
      ? { value }
      : { takes: `debe tener de 1 a ${MAX_ALIAS_CHARACTERS} de a-z, 0-9, guiones y guiones bajos` },
}

const cursor: Parameter<string> = {
  ...text('Cursor of the page, from the `Link` header of the previous one', MAX_ALIAS_CHARACTERS),
  parse: (value) =>
    isAliasName(value) ? { value } : { takes: 'debe ser el de la cabecera Link de la página anterior' },
}

const LINK = schema.string({ format: 'uri', description: 'Address of the image by its alias' })
const EXAMPLE_LINK = 'http://127.0.0.1:8080/i/@tienda/portada'
const EXAMPLE_ALIAS = { name: 'portada', hash: EXAMPLE.hash.example, link: EXAMPLE_LINK }

export function aliasRoutes(app: HttpServer, images: ImageRoutes): void {
  const { clock, database, baseUrl } = images
  const linkTo = (account: string, alias: string) => `${baseUrl()}/i/${toLinkId({ account, name: alias })}`

  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/alias',
    scopes: [],
    parameters: {
      name,
      hash: { ...hashParameter, description: 'Hash of the image; empty to remove the alias' },
    },
    operation: 'setAlias',
    summary: 'Name an image',
    description: 'Links by the alias serve this image from now on. Deleting the image removes the alias.',
    answers: {
      200: schema.answer(
        {
          name: schema.string('Alias'),
          hash: schema.nullable(schemaOf('hash')),
          link: schema.nullable(LINK),
        },
        'The alias was stored or removed',
        EXAMPLE_ALIAS,
      ),
      400: schema.problem('The name of the account contains `/`', imageErrors.account_without_aliases()),
      404: schema.problem('This application has no such image', imageErrors.image_not_found()),
    },

    async handle({ identity: { accountId, account }, values }) {
      const { name: alias, hash } = values
      if (alias === undefined) throw missingParameter('name')
      if (hash === undefined) throw missingParameter('hash')
      if (account.includes('/')) throw imageErrors.account_without_aliases()
      if (hash === '') {
        await database.transaction((tx) => tx.run(queries.removeAlias(accountId, alias)), accountId)
        return { status: 200, name: alias, hash: null, link: null }
      }
      if (!isImageHash(hash)) throw imageErrors.image_not_found()
      await database.transaction(async (tx) => {
        await tx.first(lockBlob(database.dialect, hash))
        const image = await tx.first(findLifetime(accountId, hash))
        if (image === undefined || !isCurrent(image, secondsOf(clock))) throw imageErrors.image_not_found()
        await tx.run(queries.setAlias(accountId, alias, hash))
      }, accountId)
      return { status: 200, name: alias, hash, link: linkTo(account, alias) }
    },
  })

  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/aliases',
    scopes: [],
    parameters: {
      limit: integer(`Aliases per page; default ${DEFAULT_PAGE}`, 1, MAX_PAGE),
      cursor,
    },
    operation: 'listAliases',
    summary: 'List aliases of images',
    description:
      'Lists aliases by name. If there are more, the `Link` header has the address of the next page.',
    answers: {
      200: schema.listAnswer(
        schema.object(
          { name: schema.string('Alias'), hash: schemaOf('hash'), link: LINK },
          { title: 'Alias' },
        ),
        { count: 'Number of aliases returned', description: 'Aliases of the application' },
        EXAMPLE_ALIAS,
      ),
    },

    async handle(call) {
      const { accountId, account } = call.identity
      const { limit = DEFAULT_PAGE, cursor: after = '' } = call.values
      const reader = database.readerOf(accountClient(accountId))
      const rows = await reader.all(queries.aliasPage(accountId, after, limit + 1))
      const shown = toPage(call, baseUrl, rows, limit, (last) => last.name)
      const data = shown.map((row) => ({ ...row, link: linkTo(account, row.name) }))
      return { status: 200, count: data.length, data }
    },
  })
}
