import type { BodyOptions, ParsedBody } from './fields.ts'
import { parseJsonBody } from './json.ts'
import { mediaType } from './content-headers.ts'
import { parseMultipart } from './multipart.ts'
import { parseUrlencoded } from './urlencoded.ts'

export type BodyKind = 'urlencoded' | 'multipart' | 'json'

/** Returns the parser for a `Content-Type`; undefined for an unsupported one (415). Ignores parameters such as `charset`. */
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
 * Parses the fields of a request body. Never rejects. Text is UTF-8 in every format, whatever `charset` says; a body with invalid
 * UTF-8 is unparsable, because a guess could store something else than what was sent.
 */
export async function parseBody(
  contentType: string | undefined,
  bytes: Buffer,
  options: BodyOptions = {},
): Promise<ParsedBody> {
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
