import { crc32 } from 'node:zlib'

/** An image as it is sent. */
export interface Rendered {
  readonly bytes: Uint8Array
  readonly mime: string
}

/** Names the form of what follows; another form gets another name. */
const MAGIC = 'CTD1'
/** Name, checksum of all that follows it, size of the image, its type padded with zeros. */
export const HEAD_BYTES = 32
const CHECKSUM_AT = 4
const SIZE_AT = 8
const MIME_AT = 12

/**
 * An image as it is kept outside memory. Nothing flushes such a file: after a power cut it may be empty, cut, or as long
 * as it was and full of zeros. The checksum tells, at some microseconds for a usual size.
 */
export function seal({ bytes, mime }: Rendered): Buffer {
  const sealed = Buffer.alloc(HEAD_BYTES + bytes.byteLength)
  if (mime.length > HEAD_BYTES - MIME_AT) throw new Error(`the type ${mime} is too long`)
  sealed.write(MAGIC, 'latin1')
  sealed.writeUInt32LE(bytes.byteLength, SIZE_AT)
  sealed.write(mime, MIME_AT, 'latin1')
  sealed.set(bytes, HEAD_BYTES)
  sealed.writeUInt32LE(crc32(sealed.subarray(SIZE_AT)), CHECKSUM_AT)
  return sealed
}

/** Undefined when it is not whole, bit for bit. */
export function unseal(sealed: Buffer): Rendered | undefined {
  if (sealed.byteLength < HEAD_BYTES || sealed.toString('latin1', 0, CHECKSUM_AT) !== MAGIC) return undefined
  if (sealed.readUInt32LE(SIZE_AT) !== sealed.byteLength - HEAD_BYTES) return undefined
  if (crc32(sealed.subarray(SIZE_AT)) !== sealed.readUInt32LE(CHECKSUM_AT)) return undefined
  const mime = sealed.toString('latin1', MIME_AT, HEAD_BYTES).replace(/\0+$/, '')
  return { bytes: sealed.subarray(HEAD_BYTES), mime }
}
