import { eagerParameter } from '../eager.ts'
import type { HttpServer } from '../../http/server.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { integer, type Parameter } from '../../http/parameters.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'
import { secondsOf } from '../../lib/clock.ts'
import { tagsParameter } from '../edits.ts'
import { MAX_TICKET_SECONDS, MAX_TICKET_USES } from '../tickets/index.ts'
import { MAX_EPOCH_SECONDS, nameParameter, notInFuture } from '../upload-input.ts'
import type { ImageRoutes } from './image-routes.ts'

const DEFAULT_SECONDS = 600
const DEFAULT_USES = 1
const TYPES: readonly string[] = Object.values(mimeOf)

const types: Parameter<readonly string[]> = {
  required: false,
  description: `Types that the bytes may have, separated by commas: ${TYPES.join(', ')}; by default all`,
  schema: { type: 'string', maxLength: 200 },
  example: 'image/jpeg,image/png',
  parse: (given) => {
    const names = given.split(',').map((name) => name.trim())
    const isKnown = names.every((name) => TYPES.includes(name))
    return isKnown
      ? { value: names }
      : { takes: `debe tener, separados por comas, uno de: ${TYPES.join(', ')}` }
  },
}

/** Creates tickets, with which visitors upload images without a key. */
export function ticketsRoute(app: HttpServer, images: ImageRoutes): void {
  const { baseUrl, clock, config, eager, tickets } = images
  simpleEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/tickets',
    scopes: ['upload', 'tickets'],
    parameters: {
      expires: integer(`Seconds until the ticket expires; default ${DEFAULT_SECONDS}`, 1, MAX_TICKET_SECONDS),
      uses: integer(`Number of images that can be uploaded; default ${DEFAULT_USES}`, 1, MAX_TICKET_USES),
      max_bytes: integer(
        'Maximum size of an image in bytes; by default that of the service',
        1,
        config.maxImageBytes,
      ),
      types,
      name: nameParameter('Name of the images; by default that of the uploaded file'),
      image_expires: integer(
        'Expiry time of the images, in seconds since 1970-01-01 UTC; by default never',
        0,
        MAX_EPOCH_SECONDS,
      ),
      tags: tagsParameter,
      eager: eagerParameter,
    },
    operation: 'createTicket',
    summary: 'Create a ticket for visitors to upload images',
    description:
      'Anyone who has the ticket may upload images to its address without a key, for example from a browser. ' +
      'The values of the ticket apply to all these images. They belong to the application, or to the key if it ' +
      'has the scope `upload`.',
    answers: {
      200: schema.answer(
        {
          ticket: schema.string('Secret of the ticket; it is returned only in this response'),
          url: schema.string({ format: 'uri', description: 'Address to upload to' }),
          expires: schema.integer('Expiry time of the ticket, in seconds since 1970-01-01 UTC'),
        },
        'The ticket was created',
        {
          ticket: 'mZ0xq3bKb0Tz4mY1oW2wq8tq7dU5Hn0c',
          url: 'http://127.0.0.1:8080/u/mZ0xq3bKb0Tz4mY1oW2wq8tq7dU5Hn0c',
          expires: 1_767_202_834,
        },
      ),
    },

    async handle({ identity, values }) {
      const { expires = DEFAULT_SECONDS, uses = DEFAULT_USES, image_expires: imageExpires } = values
      if (imageExpires !== undefined && imageExpires <= secondsOf(clock)) throw notInFuture('image_expires')
      const { name, max_bytes: maxBytes, types, tags } = values
      const { eager: lists = [] } = values
      await eager.assertValid(lists, identity.accountId)
      const terms = { name, imageExpires, maxBytes, types, tags, eager: lists }
      const created = await tickets.create(identity, { uses, seconds: expires }, terms)
      const url = `${baseUrl()}/u/${created.ticket}`
      return { status: 200, ticket: created.ticket, url, expires: created.expires }
    },
  })
}
