import { isUtf8 } from 'node:buffer'
import type { Hash } from 'node:crypto'

/** Decodes UTF-8 exactly, byte order mark included. Undefined if `bytes` is not valid UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

/** A `data:…;base64,` prefix (RFC 2397). */
const DATA_PREFIX = /^data:(?:[^,]{0,1000};)?base64,/i

/**
 * Decodes base64 (RFC 4648) as clients send it, padded or not: white space anywhere and a `data:…;base64,` prefix are tolerated, the
 * two alphabets may be mixed, and unused bits of the last character are ignored. Undefined for other characters, an impossible
 * length, misplaced padding or an empty text.
 */
export function decodeBase64(given: Buffer | string): Buffer | undefined {
  // Not a text as Latin-1, which would turn `Ł` (U+0141) into `A`.
  const bytes = typeof given === 'string' ? Buffer.from(given) : given
  const text = bytes
    .toString('latin1')
    .replaceAll(/[ \t\n\f\r]+/g, '')
    .replace(DATA_PREFIX, '')
  const [padding = ''] = /={0,2}$/.exec(text) ?? []
  const length = text.length - padding.length
  if (length === 0 || length % 4 === 1 || (padding !== '' && text.length % 4 !== 0)) return undefined
  const decoded = Buffer.allocUnsafeSlow(Math.floor((length * 3) / 4))
  // The decoder skips unknown bytes. Each costs at least one byte of the result.
  return decoded.write(text, 'base64') === decoded.byteLength ? decoded : undefined
}

/** Whether the bytes are a whole `ArrayBuffer`, not a view of part of a larger one. */
export function ownsBuffer<Bytes extends Uint8Array>(bytes: Bytes): bytes is Bytes & Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
}

/**
 * Frees the memory of bytes that are no longer used; the array is empty afterwards. V8 counts external memory like heap, so
 * megabytes left to the collector by each request would trigger a full collection for each request. Does nothing to a view
 * of part of a larger buffer, because others may use the rest.
 */
export function releaseBuffer(bytes: Uint8Array): void {
  if (ownsBuffer(bytes) && !bytes.buffer.detached) bytes.buffer.transfer(0)
}

/** Yields the chunks of a stream, and adds them to a digest. */
export async function* digested(
  chunks: AsyncIterable<Uint8Array>,
  digest: Hash,
): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of chunks) {
    digest.update(chunk)
    yield chunk
  }
}
