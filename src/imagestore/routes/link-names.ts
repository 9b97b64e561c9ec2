import { simpleEndpoint } from '../../http/endpoint.ts'
import { badParameter, missingParameter } from '../../http/errors.ts'
import { toPage } from '../../http/headers.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { choice, integer, text, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { accountClient } from '../../lib/client.ts'
import { secondsOf } from '../../lib/clock.ts'
import { DEFAULT_PLACEMENT, MAX_NAMES, type Watermark } from '../definitions.ts'
import { imageErrors, linkError } from '../errors.ts'
import { EXAMPLE, schemaOf, isImageHash } from '../image-fields.ts'
import { isCurrent } from '../image-records.ts'
import { isAliasName, MAX_ALIAS_CHARACTERS, toLinkId } from '../links/link.ts'
import { COMPASS_POINTS, defaultPresets, isKey, isName, MAX_MODIFIER_CHARACTERS } from '../modifiers/index.ts'
import type { ImageRoutes } from '../open.ts'
import { findLifetime, lockBlob } from '../queries.ts'
import * as queries from '../queries-settings.ts'
import { hashParameter } from './image.ts'

const MAX_PAGE = 1_024
const DEFAULT_PAGE = 100

const aliasName: Parameter<string> = {
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

/** Names that applications give to their images. */
export function aliasRoutes(app: HttpServer, images: ImageRoutes): void {
  const { clock, database, baseUrl } = images
  const linkTo = (account: string, alias: string) => `${baseUrl()}/i/${toLinkId({ account, name: alias })}`

  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/alias',
    scopes: [],
    parameters: {
      name: aliasName,
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

const TAKES_NAME = 'debe tener de 1 a 32 de a-z, 0-9 y guiones'

const watermarkName: Parameter<string> = {
  required: true,
  description: 'Name in links',
  schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,31}$' },
  example: 'logo',
  parse: (value) => (isName(value) ? { value } : { takes: TAKES_NAME }),
}
const presetName: Parameter<string> = {
  ...watermarkName,
  description: 'Name in links, other than those of modifiers and built-in presets',
  example: 'portada',
  parse: (value) =>
    isName(value) && !isKey(value) && !defaultPresets.has(value)
      ? { value }
      : { takes: `${TAKES_NAME}, y no ser un modificador ni un nombre fijo` },
}

const NAME = schema.string('Name in links')
const MODIFIERS = schema.string('Modifiers of the preset')
const PLACEMENT = {
  image: schemaOf('hash'),
  at: schema.string({ enum: COMPASS_POINTS, description: 'Position on the image' }),
  width: schema.integer('Width in percent of the width of the image'),
  margin: schema.integer('Distance from the edges in percent of the width of the image'),
  opacity: schema.integer('Opacity in percent'),
}
const EXAMPLE_PRESET = { name: 'portada', modifiers: 'w_1200,h_630,c_fill,f_auto' }
const EXAMPLE_WATERMARK = { name: 'logo', image: EXAMPLE.hash.example, ...DEFAULT_PLACEMENT }

function toListed({ kind, name, value }: queries.DefinitionRow): object {
  if (kind === 'preset') return { name, modifiers: value }
  const watermark: Watermark = JSON.parse(value)
  return { name, ...watermark }
}

/** Presets and watermarks for the links of all applications, for administrators. */
export function definitionRoutes(app: HttpServer, images: ImageRoutes): void {
  const { audit, definitions } = images
  const taken = schema.problem(
    'The settings file defines this name, or there are too many definitions',
    imageErrors.defined_by_file(),
    imageErrors.too_many_definitions(MAX_NAMES),
  )
  const list = (
    kind: 'Preset' | 'Watermark',
    fields: Readonly<Record<string, schema.JsonSchema>>,
    example: object,
  ) =>
    simpleEndpoint(app, images, {
      route: `GET /api/v1/admin/${kind.toLowerCase()}s`,
      scopes: [],
      parameters: {},
      operation: `list${kind}s`,
      summary: `List ${kind.toLowerCase()}s for links`,
      description: 'Lists them by name, without those of the settings file.',
      answers: {
        200: schema.listAnswer(
          schema.object(fields, { title: kind }),
          { count: 'Number of definitions', description: 'Definitions of administrators' },
          example,
        ),
      },
      async handle() {
        const rows = await definitions.list(kind === 'Preset' ? 'preset' : 'watermark')
        const data = rows.map(toListed)
        return { status: 200, count: data.length, data }
      },
    })
  const stored = async (kind: 'preset' | 'watermark', ofName: string, value: string) => {
    const outcome = await definitions.set(kind, ofName, value === '' ? undefined : value)
    if (outcome === 'fixed') throw imageErrors.defined_by_file()
    if (outcome === 'full') throw imageErrors.too_many_definitions(MAX_NAMES)
  }

  list('Preset', { name: NAME, modifiers: MODIFIERS }, EXAMPLE_PRESET)

  simpleEndpoint(app, images, {
    route: 'POST /api/v1/admin/presets',
    scopes: [],
    parameters: {
      name: presetName,
      modifiers: {
        ...text('Modifiers of the preset; empty to remove the preset', MAX_MODIFIER_CHARACTERS),
        required: true,
        example: EXAMPLE_PRESET.modifiers,
      },
    },
    operation: 'definePreset',
    summary: 'Define a preset for links',
    description: 'Links of all applications may use it from now on, on all nodes.',
    answers: {
      200: schema.answer(
        { name: NAME, modifiers: schema.nullable(MODIFIERS) },
        'The definition was stored or removed',
        EXAMPLE_PRESET,
      ),
      400: schema.problem(
        'A modifier is invalid',
        linkError({ kind: 'fault', fault: { kind: 'unknown', token: 'zoom_2' } }),
      ),
      409: taken,
    },
    async handle({ identity, values: { name: preset, modifiers } }) {
      if (preset === undefined) throw missingParameter('name')
      if (modifiers === undefined) throw missingParameter('modifiers')
      const fault = modifiers === '' ? undefined : await definitions.findFault(modifiers)
      if (fault !== undefined) throw linkError({ kind: 'fault', fault })
      await stored('preset', preset, modifiers)
      await audit.record(identity, 'preset.set', `${preset} ${modifiers}`.trimEnd())
      return { status: 200, name: preset, modifiers: modifiers === '' ? null : modifiers }
    },
  })

  list('Watermark', { name: NAME, ...PLACEMENT }, EXAMPLE_WATERMARK)

  simpleEndpoint(app, images, {
    route: 'POST /api/v1/admin/watermarks',
    scopes: [],
    parameters: {
      name: watermarkName,
      image: {
        ...text(
          'Hash of an image that the application of the links holds; empty to remove the watermark',
          32,
        ),
        required: true,
        example: EXAMPLE.hash.example,
      },
      at: choice('Position on the image; default `se`', COMPASS_POINTS),
      width: integer('Width in percent of the width of the image; default 25', 1, 100),
      margin: integer('Distance from the edges in percent of the width of the image; default 3', 0, 100),
      opacity: integer('Opacity in percent; default 100', 1, 100),
    },
    operation: 'defineWatermark',
    summary: 'Define a watermark for links',
    description:
      'Links of the applications that hold its image may use it from now on, on all nodes. Omitted parameters have their defaults.',
    answers: {
      200: schema.answer(
        { name: NAME, image: schema.nullable(PLACEMENT.image) },
        'The definition was stored or removed',
        { name: 'logo', image: EXAMPLE.hash.example },
      ),
      409: taken,
    },
    async handle({ identity, values: { name: mark, image, ...given } }) {
      if (mark === undefined) throw missingParameter('name')
      if (image === undefined) throw missingParameter('image')
      if (image !== '' && !isImageHash(image)) throw badParameter('image', 'debe ser el hash de una imagen')
      const placement = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
      const value = image === '' ? '' : JSON.stringify({ image, ...DEFAULT_PLACEMENT, ...placement })
      await stored('watermark', mark, value)
      await audit.record(identity, 'watermark.set', `${mark} ${value}`.trimEnd())
      return { status: 200, name: mark, image: image === '' ? null : image }
    },
  })
}
