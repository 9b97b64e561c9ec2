import { complete, truncated, type Structure } from './container.ts'

const FILE_HEADER_BYTES = 14
/** Of OS/2 1.x: sizes are 16-bit, and colours have three bytes. */
const CORE_HEADER_BYTES = 12
/** From this one on, the header has a mask of alpha. */
const ALPHA_HEADER_BYTES = 56
const HEADER_SIZES = new Set([CORE_HEADER_BYTES, 40, 52, ALPHA_HEADER_BYTES, 64, 108, 124])
const MASKS_AT = 54
const DEPTHS = new Set([1, 4, 8, 16, 24, 32])
const [NONE, RLE8, RLE4, MASKS, ALPHA_MASKS] = [0, 1, 2, 3, 6]
const COLOUR_MASKS: Readonly<Record<number, readonly number[]>> = {
  16: [0x7c00, 0x03e0, 0x001f],
  32: [0xff0000, 0x00ff00, 0x0000ff],
}

export interface BmpHeader {
  readonly width: number
  readonly height: number
  readonly isTopDown: boolean
  /** Bits of a pixel: 1, 4 or 8 with a palette, 16, 24 or 32 without. */
  readonly depth: number
  readonly isCompressed: boolean
  /** Of red, green, blue and, if there is one, alpha, in pixels of 16 and 32 bits. */
  readonly masks: readonly number[]
  readonly paletteAt: number
  /** Bytes of a colour of the palette. */
  readonly colourBytes: number
  readonly colours: number
  readonly pixelsAt: number
  /** Bytes of a row, padding included. */
  readonly rowBytes: number
}

/** True if the bytes begin as a BMP does: two letters alone would be those of a text, too. */
export const isBmp = (bytes: Buffer): boolean =>
  bytes.length >= FILE_HEADER_BYTES + CORE_HEADER_BYTES &&
  bytes.toString('latin1', 0, 2) === 'BM' &&
  HEADER_SIZES.has(bytes.readUInt32LE(FILE_HEADER_BYTES))

/** Reads the header. Undefined if it is malformed, or if the pixels are a JPEG or PNG, as for printers. */
export function readBmpHeader(bytes: Buffer): BmpHeader | undefined {
  if (!isBmp(bytes)) return undefined
  const headerBytes = bytes.readUInt32LE(FILE_HEADER_BYTES)
  const isCore = headerBytes === CORE_HEADER_BYTES
  const headerEnd = FILE_HEADER_BYTES + headerBytes
  if (bytes.length < headerEnd) return undefined
  const width = isCore ? bytes.readUInt16LE(18) : bytes.readInt32LE(18)
  const rows = isCore ? bytes.readUInt16LE(20) : bytes.readInt32LE(22)
  const depth = bytes.readUInt16LE(isCore ? 24 : 28)
  const compression = isCore ? NONE : bytes.readUInt32LE(30)
  const used = isCore ? 0 : bytes.readUInt32LE(46)
  const hasMasks = compression === MASKS || compression === ALPHA_MASKS
  const isCompressed = (compression === RLE8 && depth === 8) || (compression === RLE4 && depth === 4)
  const isPlain = compression === NONE || (hasMasks && (depth === 16 || depth === 32))
  if (width < 1 || rows === 0 || !DEPTHS.has(depth) || !(isCompressed || isPlain)) return undefined
  const maskCount = !hasMasks ? 0 : compression === ALPHA_MASKS || headerBytes >= ALPHA_HEADER_BYTES ? 4 : 3
  // Those of a short header follow it.
  const paletteAt = Math.max(headerEnd, maskCount === 0 ? 0 : MASKS_AT + maskCount * 4)
  if (bytes.length < paletteAt) return undefined
  const masks = Array.from({ length: maskCount }, (_, i) => bytes.readUInt32LE(MASKS_AT + i * 4))
  return {
    width,
    height: Math.abs(rows),
    isTopDown: rows < 0,
    depth,
    isCompressed,
    masks: hasMasks ? masks : (COLOUR_MASKS[depth] ?? []),
    paletteAt,
    colourBytes: isCore ? 3 : 4,
    colours: depth > 8 ? 0 : Math.min(used || 256, 1 << depth),
    pixelsAt: bytes.readUInt32LE(10),
    rowBytes: Math.ceil((width * depth) / 32) * 4,
  }
}

/** Where the pixels end. The padding of the last row may be missing; the length of compressed pixels follows from decoding only. */
function pixelsEnd({ pixelsAt, rowBytes, height, width, depth, isCompressed }: BmpHeader): number {
  return isCompressed ? pixelsAt + 2 : pixelsAt + rowBytes * (height - 1) + Math.ceil((width * depth) / 8)
}

export function bmpStructure(bytes: Buffer): Structure {
  const header = readBmpHeader(bytes)
  return header === undefined || pixelsEnd(header) > bytes.length ? truncated : complete
}
