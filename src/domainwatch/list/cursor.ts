import { isStorable } from '../../lib/text.ts'
import type { ListPosition, ListRange } from '../queries.ts'

/** Where the next page of a list begins. */
export interface ListCursor {
  readonly after: ListPosition
  /** Under `last_register` and `last_deleted`: the range of the records as the first page found it. */
  readonly registered?: ListRange | undefined
  readonly deleted?: ListRange | undefined
}

const KEY_LENGTH = 'YYYY-MM-DD HH:MM:SS'.length

/** Splits a key and a name that are joined. */
export function splitPosition(joined: string): ListPosition {
  return { key: joined.slice(0, KEY_LENGTH), name: joined.slice(KEY_LENGTH) }
}

/** Encodes a cursor; opaque to clients. */
export function encodeCursor({ after, registered, deleted }: ListCursor): string {
  const parts = [after, registered?.low, registered?.high, deleted?.low, deleted?.high]
  const text = parts.map((part) => (part === undefined ? '' : part.key + part.name)).join('|')
  return Buffer.from(text).toString('base64url')
}

/** Undefined if `encodeCursor` did not make it. */
export function decodeCursor(cursor: string): ListCursor | undefined {
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
  const [after, ...ends] = parts.map((part) => (part === '' ? undefined : splitPosition(part)))
  if (after === undefined) return undefined
  return { after, registered: rangeOf(ends[0], ends[1]), deleted: rangeOf(ends[2], ends[3]) }
}

function rangeOf(low: ListPosition | undefined, high: ListPosition | undefined): ListRange | undefined {
  return low === undefined || high === undefined ? undefined : { low, high }
}
