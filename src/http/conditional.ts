import type { IncomingHttpHeaders } from 'node:http'

/** Returns whether `If-None-Match` matches an entity tag (RFC 9110, section 13.1.2: weak comparison). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
}

export type Range =
  /** No range, an unsupported one, or one whose `If-Range` does not match. */
  | { readonly kind: 'whole' }
  /** Bytes from `start` to `end`, inclusive. */
  | { readonly kind: 'part'; readonly start: number; readonly end: number }
  | { readonly kind: 'unsatisfiable' }

const WHOLE: Range = { kind: 'whole' }

/**
 * Parses `Range` (RFC 9110, section 14.2) for a representation of `size` bytes. Multiple ranges are ignored, which the RFC allows:
 * thousands of tiny ones are an attack.
 */
export function readRange(headers: IncomingHttpHeaders, size: number, etag: string): Range {
  const header = headers.range
  if (header === undefined) return WHOLE
  const ifRange = headers['if-range']
  if (ifRange !== undefined && ifRange !== etag) return WHOLE
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header.replaceAll(/[ \t]/g, ''))
  const [, first = '', last = ''] = match ?? []
  if (match === null || (first === '' && last === '')) return WHOLE
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? { kind: 'unsatisfiable' } : { kind: 'part', start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return WHOLE
  return start >= size ? { kind: 'unsatisfiable' } : { kind: 'part', start, end }
}
