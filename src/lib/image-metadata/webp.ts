import { exifWithOrientation, orientationOf, withoutIdentifier } from './metadata.ts'
import { complete, KeptRanges, truncated, type Structure } from './container.ts'

const KEPT_CHUNKS = new Set(['VP8 ', 'VP8L', 'VP8X', 'ALPH', 'ANIM', 'ANMF', 'ICCP'])
/** Flags in VP8X. */
const EXIF_FLAG = 0x08
const XMP_FLAG = 0x04

interface Chunk {
  readonly type: string
  readonly start: number
  /** End of the content; padding follows if its length is odd. */
  readonly end: number
}

/** Yields the chunks of a file up to the end that the RIFF header declares. The last one may lie past the end of the file. */
function* chunksOf(bytes: Buffer): Generator<Chunk> {
  const fileEnd = Math.min(bytes.length, 8 + bytes.readUInt32LE(4))
  for (let start = 12; start + 8 <= fileEnd;) {
    const end = start + 8 + bytes.readUInt32LE(start + 4)
    yield { type: bytes.toString('latin1', start, start + 4), start, end }
    start = end + (end & 1)
  }
}

/** The RIFF header declares the length of the file. */
export const webpStructure = (bytes: Buffer): Structure =>
  bytes.length < 20 || bytes.readUInt32LE(4) + 8 > bytes.length ? truncated : complete

export function stripWebp(bytes: Buffer): Buffer | undefined {
  const kept = new KeptRanges()
  kept.add(0, 12)
  let extendedAt: number | undefined
  let orientation = 1
  for (const { type, start, end } of chunksOf(bytes)) {
    if (end > bytes.length) return undefined
    if (type === 'EXIF') orientation = orientationOf(withoutIdentifier(bytes.subarray(start + 8, end)))
    else if (KEPT_CHUNKS.has(type)) {
      if (type === 'VP8X') extendedAt ??= kept.length
      kept.add(start, Math.min(end + (end & 1), bytes.length))
    }
  }
  const hasExif = extendedAt !== undefined && orientation !== 1
  const exif = hasExif ? createChunk('EXIF', exifWithOrientation(orientation)) : Buffer.alloc(0)
  const size = kept.length - 8 + exif.length
  const webp = kept.copy(bytes, Buffer.concat([exif, Buffer.alloc(size & 1)]), kept.length)
  webp.writeUInt32LE(size, 4)
  if (extendedAt !== undefined) {
    const flags = (webp[extendedAt + 8] ?? 0) & ~(EXIF_FLAG | XMP_FLAG)
    webp[extendedAt + 8] = hasExif ? flags | EXIF_FLAG : flags
  }
  return webp
}

function createChunk(type: string, data: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(type, 'latin1')
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length & 1)])
}
