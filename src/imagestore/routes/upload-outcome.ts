import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { clientAbort } from '../../http/client.ts'
import { requestLog } from '../../http/observability.ts'
import { optional, problem, problemWith, string, type JsonSchema } from '../../http/openapi/json-schema.ts'
import { HttpError, OverloadError } from '../../lib/errors.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import { imageErrors } from '../errors.ts'
import { toAnswer, type ImageRow } from '../image-fields.ts'
import { quotaError } from '../account-policy.ts'
import type { ImageStore, Upload, UploadOutcome } from '../store.ts'
import type { Output } from '../tasks/parse-upload.ts'

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

export const reason = optional(
  string({
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
  const outcome = await save()
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

  async function save(): Promise<UploadOutcome> {
    try {
      return await store.upload(upload, clientAbort(reply.raw))
    } catch (error) {
      if (error instanceof HttpError) throw error
      requestLog(request).error({ err: error }, 'an upload could not be saved')
      throw imageErrors.not_saved()
    }
  }
}

/** @param similar number of similar images; null if unknown, or not for the client to know */
export const toUploadAnswer = (image: ImageRow, baseUrl: string, similar: number | null) => ({
  status: 200,
  ...toAnswer('upload', image, baseUrl),
  similar,
})

/** Responses of every upload that is too large or cannot be stored. @param others further errors of 413 */
export const notStored = (maxBytes: number, others: readonly HttpError[] = []) => ({
  413: problemWith(
    { reason },
    'The image is too large, or exceeds the byte quota of the application',
    refused(imageErrors.image_too_large(maxBytes), 'too_many_bytes'),
    imageErrors.quota_bytes(''),
    ...others,
  ),
  500: problem('The image could not be saved', imageErrors.not_saved()),
})

/**
 * Responses of a refused upload with a ticket.
 * @param others further errors of the endpoint, by status
 */
export const visitorRefusals = (
  maxBytes: number,
  others: Readonly<Partial<Record<400 | 413, readonly HttpError[]>>> = {},
): Readonly<Record<number, JsonSchema>> => ({
  400: problemWith(
    { reason },
    'The image is larger or of another type than the ticket allows, or the request cannot be read',
    refused(imageErrors.ticket_type('image/gif', 'image/jpeg, image/png'), 'format'),
    imageErrors.ticket_bytes(1_000_000),
    ...(others[400] ?? []),
  ),
  401: problemWith(
    { reason },
    'The image is missing or damaged, or its name is too long',
    refused(imageErrors.image_damaged(), 'damaged'),
    imageErrors.info_missing(),
  ),
  403: problemWith(
    { reason },
    'The ticket has expired or is spent, or the application has reached its image quota or has banned the picture',
    imageErrors.ticket_spent(),
    imageErrors.ticket_expired(),
    imageErrors.quota_images(''),
    imageErrors.image_banned(),
  ),
  ...notStored(maxBytes, others[413]),
  503: problem('The service is overloaded: retry after `Retry-After`', new OverloadError()),
})
