import type { BodyOptions, ParsedBody } from './fields.ts'
import { parseJsonBody } from './json.ts'
import { mediaType } from './media-type.ts'
import { parseMultipart } from './multipart.ts'
import { parseUrlencoded } from './urlencoded.ts'

export type BodyKind = 'urlencoded' | 'multipart' | 'json'

/** How a body of this `Content-Type` is read; `undefined`: not at all (415). Parameters such as `charset` do not matter. */
export function bodyKind(contentType: string | undefined): BodyKind | undefined {
  switch (mediaType(contentType ?? '')) {
    case 'application/x-www-form-urlencoded':
      return 'urlencoded'
    case 'multipart/form-data':
      return 'multipart'
    case 'application/json':
      return 'json'
    default:
      return undefined
  }
}

/**
 * The fields of a request body, all of it in memory. Never throws. Text is UTF-8 in every encoding, whatever a `charset`
 * says; a body whose text is not valid UTF-8 is unparsable, since guessing would store something else than was sent.
 */
export function parseBody(
  contentType: string | undefined,
  bytes: Buffer,
  options: BodyOptions = {},
): ParsedBody {
  switch (bodyKind(contentType)) {
    case 'urlencoded':
      return parseUrlencoded(bytes, options)
    case 'multipart':
      return parseMultipart(contentType ?? '', bytes, options)
    case 'json':
      return parseJsonBody(bytes, options)
    case undefined:
      return { ok: false, fault: 'unsupported' }
  }
}
