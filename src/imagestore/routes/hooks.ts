import {
  DELIVERY_STATE_EXAMPLE,
  deliveryStateFields,
  iso,
  toDeliveryState,
} from '../../deliveries/delivery-attempt.ts'
import { webhook } from '../../deliveries/webhook.ts'
import { MAX_ADDRESS_CHARACTERS } from '../../deliveries/http-client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { text, type Parameter } from '../../http/parameters.ts'
import type { HttpServer } from '../../http/server.ts'
import { imageErrors } from '../errors.ts'
import { HOOK_EVENTS, type HookEvent, MAX_HOOKS, toEvents } from '../hooks.ts'
import { accountClient } from '../../lib/client.ts'
import { findHooks, type HookRow } from '../queries-settings.ts'
import { EXAMPLE, schemaOf } from '../image-fields.ts'
import type { ImageRoutes } from '../open.ts'

const MAX_ID_CHARACTERS = 100

const events: Parameter<readonly HookEvent[]> = {
  required: false,
  description: `Events, separated by commas: ${HOOK_EVENTS.map((event) => `\`${event}\``).join(', ')}; all unless given`,
  schema: { type: 'string' },
  example: 'image.deleted,image.expired',
  parse: (given) => {
    const names = given.split(',').map((name) => name.trim())
    const known = HOOK_EVENTS.filter((event) => names.includes(event))
    return names.every((name) => HOOK_EVENTS.some((event) => event === name))
      ? { value: known }
      : { takes: `debe ser una lista separada por comas de ${HOOK_EVENTS.join(', ')}` }
  },
}

const described = {
  id: schema.string('ID of the hook'),
  url: schema.string('Address that receives the events'),
  events: schema.array(schema.string({ enum: HOOK_EVENTS }), 'Events that are sent'),
}
const EXAMPLE_HOOK = {
  id: 'k3J9x0aQ_-Zb',
  url: 'https://tienda.example/avisos',
  events: ['image.deleted', 'image.expired'],
}

const toHook = ({ id, address, filters, created_at: at, ...state }: HookRow) => ({
  id,
  url: address,
  events: toEvents(filters),
  created: iso(at),
  ...toDeliveryState(state),
})

export function hooksRoutes(app: HttpServer, images: ImageRoutes): void {
  const { database, hooks } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/hooks',
    scopes: [],
    parameters: {
      url: {
        ...text('Address that receives the events', MAX_ADDRESS_CHARACTERS),
        required: true,
        example: EXAMPLE_HOOK.url,
      },
      events,
    },
    operation: 'createHook',
    summary: 'Create a webhook for images',
    description:
      'Later changes of images and aliases of the application are sent to the address by Standard Webhooks, in their order, ' +
      'each at least once. The secret is returned only in this response.',
    answers: {
      200: schema.answer(
        { ...described, secret: schema.string('Secret that signs. Returned only in this response') },
        'The hook was created',
        { ...EXAMPLE_HOOK, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0Q8YkZ0m3nE=' },
      ),
      409: schema.problem('The application has its maximum', imageErrors.too_many_hooks(MAX_HOOKS)),
    },

    async handle({ identity: { accountId }, values: { url, events: wanted = HOOK_EVENTS } }) {
      if (url === undefined) throw missingParameter('url')
      const { id, secret, url: address } = await hooks.create(accountId, url, wanted)
      return { status: 200, id, url: address, events: wanted, secret }
    },
  })

  simpleEndpoint(app, images, {
    route: 'GET /api/v1/imagestore/hooks',
    scopes: [],
    parameters: {},
    operation: 'listHooks',
    summary: 'List webhooks for images',
    answers: {
      200: schema.listAnswer(
        schema.object(
          {
            ...described,
            created: schema.string('Creation time, in UTC (RFC 3339)'),
            ...deliveryStateFields,
          },
          { title: 'Hook' },
        ),
        { count: 'Number of hooks', data: 'Oldest first', description: "The application's hooks" },
        { ...EXAMPLE_HOOK, created: '2026-01-05T13:20:30.000Z', ...DELIVERY_STATE_EXAMPLE },
      ),
    },

    async handle({ identity }) {
      const { accountId } = identity
      const rows = await database.readerOf(accountClient(accountId)).all(findHooks(accountId))
      const data = rows.map(toHook)
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, images, {
    route: 'DELETE /api/v1/imagestore/hooks',
    scopes: [],
    parameters: {
      id: { ...text('ID of the hook', MAX_ID_CHARACTERS), required: true, example: EXAMPLE_HOOK.id },
    },
    operation: 'deleteHook',
    summary: 'Delete a webhook for images',
    answers: {
      200: schema.answer({ id: described.id }, 'The hook was deleted', { id: EXAMPLE_HOOK.id }),
      404: schema.problem('This application has no such hook', imageErrors.hook_not_found()),
    },

    async handle({ identity, values: { id = '' } }) {
      if (!(await hooks.remove(identity.accountId, id))) throw imageErrors.hook_not_found()
      return { status: 200, id }
    },
  })
}

const at = schema.string('Time of the change, in UTC (RFC 3339)')
const hook = schema.object({ id: described.id }, { title: 'NotifyingHook' })
const toWebhook = (type: HookEvent, summary: string, change: Readonly<Record<string, schema.JsonSchema>>) =>
  webhook(type, summary, {
    hook,
    count: schema.integer('Number of changes'),
    changes: schema.array(schema.object({ at, ...change })),
  })
const image = { hash: schemaOf('hash'), name: schemaOf('name'), date: schemaOf('date') }

/** What receivers of webhooks get. */
export const hookWebhooks = {
  imageCreated: toWebhook('image.created', 'Images were stored', image),
  imageUpdated: toWebhook('image.updated', 'Images were edited or stored again', image),
  imageDeleted: toWebhook('image.deleted', 'Images were deleted', image),
  imageExpired: toWebhook('image.expired', 'Images expired and were removed', image),
  aliasChanged: toWebhook('alias.changed', 'Aliases lead to other images, or were removed', {
    alias: schema.string({ description: 'The alias', examples: ['portada'] }),
    hash: schema.nullable({ ...schemaOf('hash'), examples: [EXAMPLE.hash.example] }),
    previous: schema.nullable({ ...schemaOf('hash'), description: 'Hash before; null for a new alias' }),
  }),
  imagesGap: webhook('images.gap', 'Changes may have been missed', {
    hook,
    msg: schema.string('What happened, for people'),
  }),
}
