import { exifWithOrientation, orientationOf, withoutIdentifier } from './exif.ts'
import { complete, truncated, type Structure } from './format.ts'

const KEPT_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])
/** Flags in VP8X. */
const EXIF_FLAG = 0x08
const XMP_FLAG = 0x04

/** The RIFF header declares the length of the file. */
export function webpStructure(bytes: Buffer): Structure {
  return bytes.length >= 20 && bytes.readUInt32LE(4) + 8 <= bytes.length ? complete : truncated
}

export function stripWebp(bytes: Buffer): Buffer | undefined {
  const end = Math.min(bytes.length, 8 + bytes.readUInt32LE(4))
  const parts: Buffer[] = []
  let orientation = 1
  let at = 12
  while (at + 8 <= end) {
    const size = bytes.readUInt32LE(at + 4)
    const next = at + 8 + size + (size & 1)
    if (at + 8 + size > bytes.length) return undefined
    const type = bytes.toString('latin1', at, at + 4)
    if (type === 'EXIF') orientation = orientationOf(withoutIdentifier(bytes.subarray(at + 8, at + 8 + size)))
    else if (KEPT_CHUNKS.has(type)) parts.push(Buffer.from(bytes.subarray(at, next)))
    at = next
  }
  const extended = parts.find((part) => part.toString('latin1', 0, 4) === 'VP8X')
  if (extended !== undefined) {
    extended[8] = (extended[8] ?? 0) & ~(EXIF_FLAG | XMP_FLAG)
    if (orientation !== 1) {
      extended[8] |= EXIF_FLAG
      parts.push(createChunk('EXIF', exifWithOrientation(orientation)))
    }
  }
  return createChunk('RIFF', Buffer.concat([Buffer.from('WEBP', 'latin1'), ...parts]))
}

function createChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length & 1)])
}
