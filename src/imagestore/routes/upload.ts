import type { HttpReply, HttpRequest, HttpServer } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { requestLog } from '../../http/observability.ts'
import * as schema from '../../http/openapi/json-schema.ts'
import { HttpError, OverloadError } from '../../lib/errors.ts'
import type { Client } from '../../lib/client.ts'
import { releaseBuffer } from '../../lib/bytes.ts'
import { imageErrors } from '../errors.ts'
import { toAnswer, type ImageRow, EXAMPLE, toExample, toSchemas } from '../image-fields.ts'
import { quotaError } from '../account-policy.ts'
import type { ImageStore, Upload } from '../store.ts'
import {
  type Output,
  type Input,
  completeInfo,
  MAX_IP_CHARACTERS,
  MAX_MIME_CHARACTERS,
  MAX_NAME_CHARACTERS,
  notInFuture,
} from '../upload-input.ts'
import { secondsOf } from '../../lib/clock.ts'
import { taskModule, type Tasks } from '../../lib/tasks.ts'
import { bulkEndpoint } from '../../http/endpoint.ts'
import { editParameters, tagsParameter } from '../edits.ts'
import { COUNT_DISTANCE_BITS, MAX_COUNTED_IMAGES } from '../similar-images.ts'
import { eagerParameter } from '../eager.ts'
import { uploaderOf } from '../image-records.ts'
import type { ImageRoutes } from '../open.ts'

const REASONS = [
  'missing',
  'not_base64',
  'format',
  'damaged',
  'too_many_pixels',
  'too_many_bytes',
  'info',
  'ip',
  'quota',
  'banned',
] as const

const reason = schema.optional(
  schema.string({
    enum: REASONS,
    description: 'Reason why the upload was refused; absent for other errors',
  }),
)

/** An error that says what is wrong with the upload. */
export const refused = (error: HttpError, why: (typeof REASONS)[number]): HttpError =>
  error.with({ fields: { reason: why } })

/** The image of a parsed body. @throws HttpError 401 if there is none, 413 if it is too large */
export function imageIn({ image }: Pick<Output, 'image'>, maxBytes: number) {
  if (typeof image === 'string') throw refused(imageErrors.image_damaged(), image)
  if (image.bytes.byteLength > maxBytes)
    throw refused(imageErrors.image_too_large(maxBytes), 'too_many_bytes')
  return image
}

/** Stores an image and releases its bytes. @throws HttpError if it is refused */
export async function storeImage(
  store: ImageStore,
  upload: Upload,
  request: HttpRequest,
  reply: HttpReply,
): Promise<ImageRow> {
  const outcome = await store.upload(upload, clientAbort(reply.raw)).catch((error: unknown) => {
    if (error instanceof HttpError) throw error
    requestLog(request).error({ err: error }, 'an upload could not be saved')
    throw imageErrors.not_saved()
  })
  // Not where it threw: what was given up may still be reading them.
  releaseBuffer(upload.bytes)
  switch (outcome.kind) {
    case 'stored':
      return outcome.image
    case 'full':
      throw refused(quotaError(outcome, upload.uploader === undefined && !upload.keepsExisting), 'quota')
    case 'other-type':
      throw refused(imageErrors.ticket_type(outcome.mime, upload.types?.join(', ') ?? ''), 'format')
    case 'banned':
      throw refused(imageErrors.image_banned(), 'banned')
    case 'damaged':
      requestLog(request).info({ reason: outcome.reason }, 'image refused')
      throw refused(imageErrors.image_damaged(), outcome.fault)
    case 'busy':
      throw new OverloadError()
    case 'aborted':
      throw imageErrors.client_gone()
  }
}

/** @param similar number of similar images; null if unknown, or not for the client to know */
export const toUploadAnswer = (image: ImageRow, baseUrl: string, similar: number | null) => ({
  status: 200,
  ...toAnswer('upload', image, baseUrl),
  similar,
})

/** Responses of every upload that is too large or cannot be stored. @param others further errors of 413 */
const notStored = (maxBytes: number, others: readonly HttpError[] = []) => ({
  413: schema.problemWith(
    { reason },
    'The image is too large, or exceeds the byte quota of the application',
    refused(imageErrors.image_too_large(maxBytes), 'too_many_bytes'),
    imageErrors.quota_bytes(''),
    ...others,
  ),
  500: schema.problem('The image could not be saved', imageErrors.not_saved()),
})

/**
 * Responses of a refused upload with a ticket.
 * @param others further errors of the endpoint, by status
 */
export const visitorRefusals = (
  maxBytes: number,
  others: Readonly<Partial<Record<400 | 413, readonly HttpError[]>>> = {},
): Readonly<Record<number, schema.JsonSchema>> => ({
  400: schema.problemWith(
    { reason },
    'The image is larger or of another type than the ticket allows, or the request cannot be read',
    refused(imageErrors.ticket_type('image/gif', 'image/jpeg, image/png'), 'format'),
    imageErrors.ticket_bytes(1_000_000),
    ...(others[400] ?? []),
  ),
  401: schema.problemWith(
    { reason },
    'The image is missing or damaged, or its name is too long',
    refused(imageErrors.image_damaged(), 'damaged'),
    imageErrors.info_missing(),
  ),
  403: schema.problemWith(
    { reason },
    'The ticket has expired or is spent, or the application has reached its image quota or has banned the picture',
    imageErrors.ticket_spent(),
    imageErrors.ticket_expired(),
    imageErrors.quota_images(''),
    imageErrors.image_banned(),
  ),
  ...notStored(maxBytes, others[413]),
  503: schema.problem('The service is overloaded: retry after `Retry-After`', new OverloadError()),
})

const PARSE_UPLOAD = taskModule('../upload-input', import.meta)

/** Reads a body in another thread, which keeps its bytes. */
export const parseInThread = (tasks: Tasks, input: Input, client: Client) =>
  tasks.run<Input, Output>(PARSE_UPLOAD, input, { transfer: [input.bytes.buffer], client })

const uploadBody = schema.object(
  {
    image: schema.string({ format: 'byte', description: 'Image in base64, standard or URL alphabet' }),
    info: schema.object(
      {
        name: schema.string({ maxLength: MAX_NAME_CHARACTERS }),
        mime: schema.string({ maxLength: MAX_MIME_CHARACTERS }),
        ip: schema.string({
          maxLength: MAX_IP_CHARACTERS,
          description: 'Address of the end user who uploaded the image',
        }),
        expires: schema.optional(schema.integer('Expiry time, in seconds since 1970-01-01 UTC')),
        tags: schema.optional(schema.array(schema.string(), tagsParameter.description)),
        meta: schema.optional({ type: 'object', description: editParameters.meta.description }),
        focus: schema.optional({
          ...editParameters.focus.schema,
          description: editParameters.focus.description,
        }),
        public: schema.optional(
          schema.integer({ enum: [0, 1], description: editParameters.public.description }),
        ),
        eager: schema.optional(schema.array(schema.string(), eagerParameter.description)),
      },
      'Details of the image',
    ),
  },
  {
    examples: [
      {
        image: 'iVBORw0KGgo…',
        info: { name: EXAMPLE.name.example, mime: EXAMPLE.mime.example, ip: EXAMPLE.ip.example },
      },
    ],
  },
)

export const uploadAnswer = schema.answer(
  {
    ...toSchemas('upload'),
    similar: {
      type: ['integer', 'null'],
      description: `Number of other images of the application whose dhash is at a distance of ${COUNT_DISTANCE_BITS} or less, ${MAX_COUNTED_IMAGES.toLocaleString('en')} at most; null while the hashes are not in memory`,
    },
  },
  'The image is on stable storage',
  { ...toExample('upload'), similar: 0 },
)

/** The largest body of an upload: base64 takes a third more, url-encoding and line breaks some more again. */
export const maxBodyBytes = (maxImageBytes: number): number => 2 * maxImageBytes + 1024 * 1024

export function uploadRoute(app: HttpServer, images: ImageRoutes): void {
  const { eager, store, similar, clock, tasks, baseUrl, config } = images
  const maxBytes = config.maxImageBytes
  bulkEndpoint(app, images, {
    route: 'POST /api/v1/imagestore/upload',
    scopes: ['upload'],
    bodyLimit: maxBodyBytes(maxBytes),
    parameters: {},
    ignoresUnknown: true,
    operation: 'uploadImage',
    summary: 'Upload an image',
    body: uploadBody,
    answers: {
      200: uploadAnswer,
      400: schema.problemWith(
        { reason },
        '`info.expires` is not in the future, or another optional field of `info` is invalid',
        notInFuture(),
      ),
      401: schema.problemWith(
        { reason },
        'The key or `info` is missing, or the image is damaged',
        refused(imageErrors.image_damaged(), 'damaged'),
        imageErrors.info_missing(),
      ),
      403: schema.problemWith(
        { reason },
        'The key is for another service, or the application has reached its image quota or has banned the picture',
        refused(quotaError({ kind: 'full', of: 'images', max: 100, used: 100 }, true), 'quota'),
        imageErrors.image_banned(),
      ),
      ...notStored(maxBytes),
    },

    async handle({ body, identify, request, reply }) {
      const { contentType, bytes, client } = body
      const upload = await parseInThread(tasks, { contentType, bytes, strips: config.strip === 1 }, client)
      const identity = await identify(upload.api, [])
      const { accountId } = identity
      const uploader = uploaderOf(identity)
      const { info } = upload
      if (typeof info === 'string') throw refused(imageErrors.info_missing(), info)
      const complete = completeInfo(info, secondsOf(clock))
      const lists = await eager.read(info.fields['eager'], accountId).catch((error: unknown) => {
        throw error instanceof HttpError ? refused(error, 'info') : error
      })
      const checked = { accountId, info: complete, uploader, ...imageIn(upload, maxBytes) }
      const image = await storeImage(store, checked, request, reply)
      eager.after(reply, accountId, checked.hash, lists)
      // A key that sees only its own images learns nothing of the others.
      if (uploader !== undefined) return toUploadAnswer(image, baseUrl(), null)
      // The image is stored: whatever is wrong with the count, that is the answer.
      const count = await similar.countSimilar(accountId, image.hash, image.dhash).catch((error: unknown) => {
        requestLog(request).error({ err: error }, 'similar images could not be counted')
      })
      return toUploadAnswer(image, baseUrl(), count ?? null)
    },
  })
}
