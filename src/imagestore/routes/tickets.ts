import { eagerParameter } from '../eager.ts'
import type { HttpServer, HttpReply, HttpRequest } from '../../http/server.ts'
import { simpleEndpoint, receive, SMALL_BODY_BYTES } from '../../http/endpoint.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { integer, type Parameter } from '../../http/parameters.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'
import { secondsOf } from '../../lib/clock.ts'
import { tagsParameter } from '../edits.ts'
import { MAX_TICKET_SECONDS, MAX_TICKET_USES, type Ticket } from '../tickets.ts'
import { MAX_EPOCH_SECONDS, nameParameter, notInFuture, isImageType } from '../upload-input.ts'
import type { ImageRoutes } from '../open.ts'
import { bodyKind } from '../../http/body/parse.ts'
import { addressClient, plainAddress } from '../../http/client.ts'
import { httpErrors } from '../../http/errors.ts'
import { PRIVATE_HEADERS } from '../../http/headers.ts'
import { requestLog } from '../../http/observability.ts'
import { HttpError } from '../../lib/errors.ts'
import { imageErrors } from '../errors.ts'
import {
  parseInThread,
  uploadAnswer,
  imageIn,
  refused,
  storeImage,
  toUploadAnswer,
  visitorRefusals,
} from './upload.ts'
import { type TicketBody, createUpload, isTus, ticketProperty, tusRoutes } from './tus.ts'

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

const IMAGE = { schema: { type: 'string', format: 'binary' } }

/** Uploads of visitors, by a ticket in place of a key. */
export function ticketUploadRoute(app: HttpServer, images: ImageRoutes): void {
  const { bodies, config, eager, tickets, store, tasks, baseUrl } = images
  const maxBytes = config.maxImageBytes
  tusRoutes(app, images, storeBytes)

  app.post<{ Params: { ticket: string } }>(
    '/u/:ticket',
    { schema: ticketUploadSchema(maxBytes), config: { hasCors: 'always' } },
    async (request, reply) => {
      const { headers, ip } = request
      if (isTus(request)) return createUpload(request.params.ticket, images, request, reply)
      const isImage = isImageType(headers['content-type'])
      if (!isImage && bodyKind(headers['content-type']) !== 'multipart') throw imageErrors.upload_type()
      const ticket = await tickets.take(request.params.ticket, addressClient(ip))
      try {
        return reply.headers(PRIVATE_HEADERS).send(await upload(ticket, isImage, request, reply))
      } catch (error) {
        await giveBack(ticket, error, request)
        throw error
      } finally {
        request.bodyMemory?.release()
      }
    },
  )

  async function upload(ticket: Ticket, isImage: boolean, request: HttpRequest, reply: HttpReply) {
    const largest = ticket.terms.maxBytes ?? maxBytes
    // In a multipart body the image may be base64, which takes a third more.
    const limit = isImage ? largest : 2 * largest + SMALL_BODY_BYTES
    const body = await receive(request, limit, bodies).catch((error: unknown) => {
      throw error instanceof HttpError && error.status === 413 ? tooLarge(ticket) : error
    })
    return storeBytes({ ticket, name: undefined, ...body }, request, reply)
  }

  async function storeBytes(
    { ticket, name: given, contentType, bytes, client }: TicketBody,
    request: HttpRequest,
    reply: HttpReply,
  ) {
    const { accountId, terms, uploader } = ticket
    const visitor = { name: terms.name ?? given, ip: plainAddress(request.ip) }
    const input = { contentType, bytes, strips: config.strip === 1, visitor }
    const parsed = await parseInThread(tasks, input, client)
    if (typeof parsed.info === 'string') throw refused(imageErrors.info_missing(), parsed.info)
    const image = imageIn(parsed, maxBytes)
    if (image.bytes.byteLength > (terms.maxBytes ?? maxBytes)) throw tooLarge(ticket)
    const { name, ip } = parsed.info
    const { eager: lists = [], types, tags } = terms
    const info = { name, ip, expires: terms.imageExpires ?? null, edits: { tags } }
    const stored = await storeImage(
      store,
      { accountId, uploader, info, ...image, keepsExisting: true, types },
      request,
      reply,
    )
    eager.after(reply, accountId, image.hash, lists)
    // A visitor learns nothing of what the application noted about an image that it had.
    const visible = { ...stored, tags: tags ?? '[]', meta: '{}', focus: null, public: 1 }
    return toUploadAnswer(visible, baseUrl(), null)
  }

  function tooLarge({ terms }: Ticket): HttpError {
    const error =
      terms.maxBytes === undefined
        ? imageErrors.image_too_large(maxBytes)
        : imageErrors.ticket_bytes(terms.maxBytes)
    return refused(error, 'too_many_bytes')
  }

  async function giveBack(ticket: Ticket, error: unknown, request: HttpRequest): Promise<void> {
    const isRefusal = error instanceof HttpError && error.status < 500
    await tickets.giveBack(ticket, isRefusal).catch((fault: unknown) => {
      requestLog(request).error({ err: fault }, 'a use of a ticket could not be refunded')
    })
  }
}

const ticketUploadSchema = (maxBytes: number) => ({
  tags: ['imagestore'],
  operationId: 'uploadWithTicket',
  summary: 'Upload an image with a ticket',
  description:
    'Needs no key, and pages of all origins may call it. The body is the image, or `multipart/form-data` with a part `image`. ' +
    'A refused upload does not use up the ticket; after 20 refusals it is spent. With the header `Tus-Resumable`, the request begins a resumable upload.',
  params: { type: 'object', properties: { ticket: ticketProperty } },
  body: {
    content: {
      'image/*': IMAGE,
      'multipart/form-data': {
        schema: { type: 'object', required: ['image'], properties: { image: IMAGE.schema } },
      },
    },
  },
  response: {
    200: uploadAnswer,
    201: { type: 'null', description: 'A resumable upload (tus 1.0) has begun at `Location`' },
    ...visitorRefusals(maxBytes, { 400: [httpErrors.bad_request(), httpErrors.bad_header('', '')] }),
    404: schema.problem('The ticket is unknown', imageErrors.ticket_not_found()),
    412: schema.problem('The request uses another version of tus', imageErrors.tus_version()),
    415: schema.problem(
      'The body has an unsupported media type, or a content encoding',
      imageErrors.upload_type(),
      httpErrors.unsupported_encoding(),
    ),
    429: schema.problem('Too many resumable uploads are unfinished', imageErrors.too_many_uploads()),
  },
})
