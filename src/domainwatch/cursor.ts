import { isStorable } from '../lib/text.ts'
import type { Place, Span } from './queries.ts'

/** Where a walk through a list's pages stands. */
export interface Cursor {
  readonly after: Place
  /** Under `last_register` / `last_deleted`: the ends of the set as the first page found it. */
  readonly registered?: Span | undefined
  readonly deleted?: Span | undefined
}

const KEY_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length

/** Takes a key and a name, joined, apart. */
export function placeOf(joined: string): Place {
  return { key: joined.slice(0, KEY_LENGTH), name: joined.slice(KEY_LENGTH) }
}

/** Opaque to clients: they hand it back as it is. */
export function encodeCursor({ after, registered, deleted }: Cursor): string {
  const parts = [after, registered?.low, registered?.high, deleted?.low, deleted?.high]
  const text = parts.map((place) => (place === undefined ? '' : place.key + place.name)).join('|')
  return Buffer.from(text).toString('base64url')
}

/** Undefined when it is none of ours. */
export function decodeCursor(cursor: string): Cursor | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const parts = text.split('|')
  if (
    // Decoding ignores foreign characters and unused bits: only the text that was handed out is a cursor.
    Buffer.from(text).toString('base64url') !== cursor ||
    !isStorable(text) ||
    parts.length !== 5 ||
    !parts.every((part) => part === '' || part.length > KEY_LENGTH)
  )
    return undefined
  const [after, ...ends] = parts.map((part) => (part === '' ? undefined : placeOf(part)))
  if (after === undefined) return undefined
  return { after, registered: span(ends[0], ends[1]), deleted: span(ends[2], ends[3]) }
}

function span(low: Place | undefined, high: Place | undefined): Span | undefined {
  return low === undefined || high === undefined ? undefined : { low, high }
}
