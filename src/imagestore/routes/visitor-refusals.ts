import { problem, problemWith, type JsonSchema } from '../../http/openapi/json-schema.ts'
import { OverloadError, type HttpError } from '../../lib/errors.ts'
import { imageErrors } from '../errors.ts'
import { reason, refused } from './upload-outcome.ts'

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
  413: problemWith(
    { reason },
    'The image is too large, or exceeds the byte quota of the application',
    refused(imageErrors.image_too_large(maxBytes), 'too_many_bytes'),
    imageErrors.quota_bytes(''),
    ...(others[413] ?? []),
  ),
  500: problem('The image could not be saved', imageErrors.not_saved()),
  503: problem('The service is overloaded: retry after `Retry-After`', new OverloadError()),
})
