import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Rendered } from '../decoder/index.ts'

/** Identifies the format of the file. A different format gets a different signature. */
const SIGNATURE = 'CTD1'
/** Signature, checksum of everything after it, size of the image, media type padded with zeros. */
const HEADER_BYTES = 32
const CHECKSUM_AT = 4
const SIZE_AT = 8
const MIME_AT = 12
/** Larger files are not read on the event loop. From the page cache, smaller ones take less than a trip to the thread pool. */
const MAX_SYNC_READ_BYTES = 256 * 1024

/**
 * Adds a header with a checksum. Files are not flushed, so after a power cut one may be empty, cut, or as long as it was
 * and full of zeros. The checksum detects that within microseconds.
 */
export function encodeChecksummed({ bytes, mime }: Rendered): Buffer {
  const file = Buffer.alloc(HEADER_BYTES + bytes.byteLength)
  if (mime.length > HEADER_BYTES - MIME_AT) throw new Error(`the media type ${mime} is too long`)
  file.write(SIGNATURE, 'latin1')
  file.writeUInt32LE(bytes.byteLength, SIZE_AT)
  file.write(mime, MIME_AT, 'latin1')
  file.set(bytes, HEADER_BYTES)
  file.writeUInt32LE(crc32(file.subarray(SIZE_AT)), CHECKSUM_AT)
  return file
}

/** Returns undefined if a single bit is wrong. */
export function decodeChecksummed(file: Buffer): Rendered | undefined {
  if (file.byteLength < HEADER_BYTES || file.toString('latin1', 0, CHECKSUM_AT) !== SIGNATURE)
    return undefined
  if (file.readUInt32LE(SIZE_AT) !== file.byteLength - HEADER_BYTES) return undefined
  if (crc32(file.subarray(SIZE_AT)) !== file.readUInt32LE(CHECKSUM_AT)) return undefined
  const mime = file.toString('latin1', MIME_AT, HEADER_BYTES).replace(/\0+$/, '')
  return { bytes: file.subarray(HEADER_BYTES), mime }
}

interface UsedFile {
  /** Undefined if the file is damaged. */
  readonly image: Rendered | undefined
  /** When it was last used: its modification time, in milliseconds since 1970. */
  readonly usedAt: number
}

/** Rejects with errors of the file system. */
export async function readChecksummed(path: string): Promise<UsedFile> {
  await using file = await open(path, 'r')
  const { mtimeMs } = await file.stat()
  return { image: decodeChecksummed(await file.readFile()), usedAt: mtimeMs }
}

/** Reads a small file on the event loop; undefined if it is large. @throws errors of the file system */
export function readChecksummedSync(path: string): UsedFile | undefined {
  const file = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(file)
    if (size < HEADER_BYTES || size > MAX_SYNC_READ_BYTES) return undefined
    const content = Buffer.allocUnsafeSlow(size)
    const image = readSync(file, content) === size ? decodeChecksummed(content) : undefined
    return { image, usedAt: mtimeMs }
  } finally {
    closeSync(file)
  }
}
