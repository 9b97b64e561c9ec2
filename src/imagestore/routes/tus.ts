import type { HttpReply, HttpRequest, HttpServer } from '../../http/server.ts'
import { type RequestBody, receivedUntilBreak } from '../../http/body/receive.ts'
import { UPLOAD_MEMORY_BYTES } from '../../http/upload-endpoint.ts'
import { addressClient } from '../../http/client.ts'
import { TUS_VERSION } from '../../http/cors.ts'
import { PRIVATE_HEADERS } from '../../http/headers.ts'
import { notEncoded } from '../../http/endpoint.ts'
import { isEncoded, mediaType } from '../../http/body/parse.ts'
import { httpErrors } from '../../http/errors.ts'
import { problem } from '../../http/openapi/json-schema.ts'
import { HttpError } from '../../lib/errors.ts'
import { imageErrors } from '../errors.ts'
import type { Ticket, TicketUpload, UploadAnswer } from '../tickets.ts'
import { nameParameter } from '../upload-input.ts'
import type { ImageRoutes } from '../open.ts'
import { uploadAnswer, refused, visitorRefusals } from './upload.ts'

const HEADERS = { ...PRIVATE_HEADERS, 'tus-resumable': TUS_VERSION }
const PART_TYPE = 'application/offset+octet-stream'
const ANY_IMAGE = 'image/*'
const COUNT = /^\d{1,15}$/

/** A body that came with a ticket. */
export interface TicketBody extends RequestBody {
  readonly ticket: Ticket
  /** Name of the file, if it is not in the body. */
  readonly name: string | undefined
}

/** Stores the image in a body. Throws an HttpError if it is refused. */
type StoreTicketImage = (
  body: TicketBody,
  request: HttpRequest,
  reply: HttpReply,
) => Promise<Readonly<Record<string, unknown>>>

/** Whether a request speaks the protocol tus. */
export const isTus = (request: HttpRequest): boolean => request.headers['tus-resumable'] !== undefined

export async function createUpload(
  ticketText: string,
  { tickets, ticketUploads, baseUrl, config }: ImageRoutes,
  request: HttpRequest,
  reply: HttpReply,
): Promise<HttpReply> {
  assertVersion(request, reply)
  const ticket = await tickets.find(ticketText, addressClient(request.ip))
  const length = countIn(request, 'upload-length')
  const largest = ticket.terms.maxBytes ?? config.maxImageBytes
  if (length > largest) throw refused(imageErrors.image_too_large(largest), 'too_many_bytes')
  if (length === 0) throw refused(imageErrors.image_damaged(), 'missing')
  const { id, expiresAt } = await ticketUploads.create(ticket, { length, name: filenameIn(request) })
  const location = `${new URL(baseUrl()).pathname.replace(/\/$/, '')}/u/${ticketText}/${id}`
  return reply
    .code(201)
    .headers({ ...HEADERS, location, 'upload-expires': new Date(expiresAt).toUTCString() })
    .send()
}

/** Resumable uploads of visitors (tus 1.0), by a ticket in place of a key. */
export function tusRoutes(
  app: HttpServer,
  { bodies, config: { maxImageBytes: maxBytes }, ticketUploads: uploads }: ImageRoutes,
  storeImage: StoreTicketImage,
): void {
  const url = '/u/:ticket/:id'
  const config = { hasCors: 'always' } as const
  type Route = { Params: { ticket: string; id: string } }

  const find = ({ params: { ticket, id }, ip }: HttpRequest<Route>) =>
    uploads.find(ticket, id, addressClient(ip))

  app.head<Route>(url, { schema: headSchema, config }, async (request, reply) => {
    assertVersion(request, reply)
    const upload = await find(request)
    return sendProgress(upload, request, reply.code(200))
  })

  app.patch<Route>(url, { schema: patchSchema(maxBytes), config }, async (request, reply) => {
    assertVersion(request, reply)
    const { headers, raw, ip } = request
    if (isEncoded(headers)) throw notEncoded()
    if (mediaType(headers['content-type'] ?? '') !== PART_TYPE) throw imageErrors.part_type()
    const offset = countIn(request, 'upload-offset')
    const before = await find(request)
    if (before.answer !== undefined && before.answer.status !== 200) return sendAnswer(reply, before.answer)
    if (before.received !== offset) throw imageErrors.upload_offset()
    const left = before.length - before.received
    if (Number(headers['content-length'] ?? 0) > left) throw httpErrors.body_too_large(left)
    const upload = await withMemory(ip, UPLOAD_MEMORY_BYTES, () =>
      uploads.append(before, receivedUntilBreak(raw, left, bodies.minRate)),
    )
    return sendProgress(upload, request, reply.code(204))
  })

  app.get<Route>(
    url,
    { schema: getSchema(maxBytes), config, exposeHeadRoute: false },
    async (request, reply) => {
      const upload = await find(request)
      if (!isComplete(upload)) throw imageErrors.upload_unfinished()
      return sendAnswer(reply, await end(upload, request, reply))
    },
  )

  app.delete<Route>(url, { schema: deleteSchema, config }, async (request, reply) => {
    assertVersion(request, reply)
    await uploads.cancel(await find(request))
    return reply.code(204).headers(HEADERS).send()
  })

  /** Runs work while its memory is taken from the budget of an address. */
  async function withMemory<T>(ip: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const memory = bodies.open(addressClient(ip))
    memory.grow(bytes)
    memory.pin()
    try {
      return await work()
    } finally {
      memory.release()
    }
  }

  /** Sends how much has arrived, or why a complete image was refused: its client would take a complete upload for a stored one. */
  async function sendProgress(upload: TicketUpload, request: HttpRequest, reply: HttpReply) {
    const answer = isComplete(upload) ? await end(upload, request, reply) : undefined
    return answer === undefined || answer.status === 200
      ? sendState(reply, upload)
      : sendAnswer(reply, answer)
  }

  /** Stores the image, unless that was done before. Two requests that do so at the same time store the same bytes. */
  async function end(upload: TicketUpload, request: HttpRequest, reply: HttpReply): Promise<UploadAnswer> {
    if (upload.answer !== undefined) return upload.answer
    const { ticket, name } = upload
    const client = addressClient(request.ip)
    return withMemory(request.ip, upload.length, async () => {
      try {
        const bytes = await uploads.read(upload)
        const body = await storeImage({ ticket, name, contentType: ANY_IMAGE, bytes, client }, request, reply)
        return await uploads.end(upload, { status: 200, body })
      } catch (error) {
        if (!isRefusal(error)) throw error
        return await uploads.end(upload, { status: error.status, body: error.body() })
      }
    })
  }
}

const isComplete = ({ received, length }: TicketUpload): boolean => received === length

/** Whether the image was refused. Otherwise the client may try again, or has left. */
const isRefusal = (error: unknown): error is HttpError =>
  error instanceof HttpError && error.status < 499 && error.status !== 429

const sendAnswer = (reply: HttpReply, { status, body }: UploadAnswer): HttpReply =>
  reply.code(status).headers(HEADERS).send(body)

const sendState = (reply: HttpReply, { received, length, expiresAt }: TicketUpload): HttpReply =>
  reply
    .headers({
      ...HEADERS,
      'upload-offset': String(received),
      'upload-length': String(length),
      'upload-expires': new Date(expiresAt).toUTCString(),
    })
    .send()

function assertVersion({ headers }: HttpRequest, reply: HttpReply): void {
  reply.header('tus-resumable', TUS_VERSION)
  if (headers['tus-resumable'] !== TUS_VERSION)
    throw imageErrors.tus_version().with({ headers: { 'tus-version': TUS_VERSION } })
}

function countIn({ headers }: HttpRequest, name: 'upload-length' | 'upload-offset'): number {
  const given = headers[name]
  if (typeof given === 'string' && COUNT.test(given)) return Number(given)
  const shown = name === 'upload-length' ? 'Upload-Length' : 'Upload-Offset'
  throw httpErrors.bad_header(shown, 'debe ser un número de bytes')
}

/** The name of the file in `Upload-Metadata`: pairs of a key and a value in base64, separated by commas. */
function filenameIn({ headers }: HttpRequest): string | undefined {
  const pairs = String(headers['upload-metadata'] ?? '').split(',')
  const value = pairs.map((pair) => pair.trim().split(' ')).find(([key]) => key === 'filename')?.[1]
  if (value === undefined || value === '') return undefined
  const name = nameParameter('').parse(Buffer.from(value, 'base64').toString())
  if ('takes' in name) throw httpErrors.bad_header('Upload-Metadata', `tiene un filename que ${name.takes}`)
  return name.value
}

export const ticketProperty = {
  type: 'string',
  description: 'Secret of the ticket',
  examples: ['mZ0xq3bKb0Tz4mY1oW2wq8tq7dU5Hn0c'],
}
const params = {
  type: 'object',
  properties: {
    ticket: ticketProperty,
    id: { type: 'string', description: 'ID of the upload', examples: ['uQ3vZ0c9Y1oW2wq8'] },
  },
}
const base = { tags: ['imagestore'], params }
const unknown = problem('The upload is unknown', imageErrors.upload_not_found())
const version = problem('The request uses another version of tus', imageErrors.tus_version())

const headSchema = {
  ...base,
  operationId: 'getUploadOffset',
  summary: 'Show how much of a resumable upload has arrived',
  response: {
    200: { type: 'null', description: '`Upload-Offset` is the number of bytes' },
    404: unknown,
    412: version,
  },
}

const patchSchema = (maxBytes: number) => ({
  ...base,
  operationId: 'continueUpload',
  summary: 'Continue a resumable upload',
  description:
    'The body is the next part of the image, as `application/offset+octet-stream`. The last part can be refused for the same reasons as an upload with a ticket.',
  response: {
    204: { type: 'null', description: 'The part was stored, and with the last one the image' },
    ...visitorRefusals(maxBytes, {
      400: [imageErrors.upload_parts(), httpErrors.bad_header('', '')],
      413: [httpErrors.body_too_large(1_000)],
    }),
    404: unknown,
    409: problem('`Upload-Offset` differs from the offset of the upload', imageErrors.upload_offset()),
    412: version,
    415: problem(
      'The body has an unsupported media type, or a content encoding',
      imageErrors.part_type(),
      httpErrors.unsupported_encoding(),
    ),
  },
})

const getSchema = (maxBytes: number) => ({
  ...base,
  operationId: 'getUploadResult',
  summary: 'Get the answer of a resumable upload',
  description: 'Returns the answer of an upload with a ticket, for an hour after the last part.',
  response: {
    200: uploadAnswer,
    ...visitorRefusals(maxBytes),
    404: unknown,
    409: problem('The upload has not ended', imageErrors.upload_unfinished()),
  },
})

const deleteSchema = {
  ...base,
  operationId: 'cancelUpload',
  summary: 'Cancel a resumable upload',
  description: 'Removes what has arrived, and returns the use of the ticket.',
  response: {
    204: { type: 'null', description: 'The upload was removed' },
    404: problem('The upload is unknown, or has ended', imageErrors.upload_not_found()),
    412: version,
  },
}
