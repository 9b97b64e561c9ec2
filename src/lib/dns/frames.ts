import { queryLength, writeQuery } from './wire.ts'
import type { Query } from './wire.ts'

/** The largest possible message, with its length prefix. */
const MAX_FRAME_BYTES = 2 + 65_535

/** Reads the messages of a TCP connection, each with a two-octet length prefix (RFC 1035, section 4.2.2). */
export class Frames {
  /** Has room for a whole message after an incomplete one. */
  readonly #buffer = Buffer.allocUnsafeSlow(2 * MAX_FRAME_BYTES)
  #filled = 0

  /** Where the socket writes the octets that it reads next. Never empty. */
  readonly room = (): Buffer => this.#buffer.subarray(this.#filled)

  /**
   * @param count octets that were written to `room`
   * @param each called with each complete message, which is valid only until it returns
   */
  received(count: number, each: (message: Buffer) => void): void {
    const buffer = this.#buffer
    const filled = this.#filled + count
    let at = 0
    while (at + 2 <= filled) {
      const end = at + 2 + (((buffer[at] ?? 0) << 8) | (buffer[at + 1] ?? 0))
      if (end > filled) break
      each(buffer.subarray(at + 2, end))
      at = end
    }
    if (at > 0) buffer.copyWithin(0, at, filled)
    this.#filled = filled - at
  }
}

/** Octets of a query with its length prefix. */
export const frameLength = (query: Query): number => 2 + queryLength(query)

export function writeFrame(target: Buffer, from: number, query: Query, id: number): void {
  target.writeUInt16BE(queryLength(query), from)
  writeQuery(target, from + 2, query, id)
}
