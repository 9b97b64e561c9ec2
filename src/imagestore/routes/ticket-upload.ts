import type { HttpReply, HttpRequest, HttpServer } from '../../http/server.ts'
import { bodyKind } from '../../http/body/parse.ts'
import { addressClient, plainAddress } from '../../http/client.ts'
import { receive, SMALL_BODY_BYTES, type EndpointShared } from '../../http/endpoint.ts'
import { httpErrors } from '../../http/errors.ts'
import { PRIVATE_HEADERS } from '../../http/headers.ts'
import { requestLog } from '../../http/observability/request-log.ts'
import { problem, problemWith } from '../../http/openapi/json-schema.ts'
import { HttpError, OverloadError } from '../../lib/errors.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { imageErrors } from '../errors.ts'
import type { ImageStore } from '../store.ts'
import type { Input, Output } from '../tasks/parse-upload.ts'
import type { Ticket, Tickets } from '../tickets/index.ts'
import { isImageType } from '../upload-input.ts'
import { PARSE_UPLOAD, uploadAnswer } from './upload.ts'
import { imageIn, reason, refused, storeImage, toUploadAnswer } from './upload-outcome.ts'

export interface TicketUploadOptions {
  readonly tickets: Tickets
  readonly store: ImageStore
  readonly tasks: Tasks
  readonly baseUrl: () => string
  /** Largest image, in bytes. */
  readonly maxBytes: number
  /** Whether images are stored without their metadata. */
  readonly strips: boolean
}

const IMAGE = { schema: { type: 'string', format: 'binary' } }

/** Uploads of visitors, by a ticket in place of a key. */
export function ticketUploadRoute(
  app: HttpServer,
  { bodies }: EndpointShared,
  options: TicketUploadOptions,
): void {
  const { tickets, store, tasks, baseUrl, maxBytes, strips } = options

  app.post<{ Params: { ticket: string } }>(
    '/u/:ticket',
    { schema: ticketUploadSchema(maxBytes), config: { hasCors: 'always' } },
    async (request, reply) => {
      const { headers, ip } = request
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
    const { accountId, terms, uploader } = ticket
    const largest = terms.maxBytes ?? maxBytes
    // In a multipart body the image may be base64, which takes a third more.
    const limit = isImage ? largest : 2 * largest + SMALL_BODY_BYTES
    const { contentType, bytes, client } = await receive(request, limit, bodies).catch((error: unknown) => {
      throw error instanceof HttpError && error.status === 413 ? tooLarge(ticket) : error
    })
    const visitor = { name: terms.name, ip: plainAddress(request.ip) }
    const parsed = await tasks.run<Input, Output>(
      PARSE_UPLOAD,
      { contentType, bytes, strips, visitor },
      { transfer: [bytes.buffer], client },
    )
    if (typeof parsed.info === 'string') throw refused(imageErrors.info_missing(), parsed.info)
    const image = imageIn(parsed, maxBytes)
    if (image.bytes.byteLength > largest) throw tooLarge(ticket)
    const { name, ip } = parsed.info
    const { types, tags } = terms
    const info = { name, ip, expires: terms.imageExpires ?? null, edits: { tags } }
    const stored = await storeImage(
      store,
      { accountId, uploader, info, ...image, keepsExisting: true, types },
      request,
      reply,
    )
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
      requestLog(request).error({ err: fault }, 'a use of a ticket could not be given back')
    })
  }
}

const ticketUploadSchema = (maxBytes: number) => ({
  tags: ['imagestore'],
  operationId: 'uploadWithTicket',
  summary: 'Upload an image with a ticket',
  description:
    'No key; pages of all origins may call it. The body is the image, or `multipart/form-data` with a part `image`. ' +
    'A refused upload does not use the ticket up; after 20 refusals it is spent.',
  params: {
    type: 'object',
    properties: {
      ticket: { type: 'string', description: 'The ticket', examples: ['mZ0xq3bKb0Tz4mY1oW2wq8tq7dU5Hn0c'] },
    },
  },
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
    400: problemWith(
      { reason },
      'The image is larger or of another type than the ticket allows, or the request cannot be read',
      refused(imageErrors.ticket_type('image/gif', 'image/jpeg, image/png'), 'format'),
      imageErrors.ticket_bytes(1_000_000),
      httpErrors.bad_request(),
    ),
    401: problemWith(
      { reason },
      'The image is missing or damaged, or its name is too long',
      refused(imageErrors.image_damaged(), 'damaged'),
      imageErrors.info_missing(),
    ),
    403: problemWith(
      { reason },
      'The ticket has expired or is spent, the application has as many images as it may have, or has banned the picture',
      imageErrors.ticket_spent(),
      imageErrors.ticket_expired(),
      imageErrors.quota_images(''),
      imageErrors.image_banned(),
    ),
    404: problem('The ticket is unknown', imageErrors.ticket_not_found()),
    413: problemWith(
      { reason },
      'The image is too large, or larger than the room that the application has left',
      refused(imageErrors.image_too_large(maxBytes), 'too_many_bytes'),
      imageErrors.quota_bytes(''),
    ),
    415: problem(
      'The body is of another type, or encoded',
      imageErrors.upload_type(),
      httpErrors.unsupported_encoding(),
    ),
    500: problem('The image could not be saved', imageErrors.not_saved()),
    503: problem('Overloaded: retry after `Retry-After`', new OverloadError()),
  },
})
