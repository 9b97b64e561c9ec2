import { readBmpHeader, type BmpHeader } from '../../lib/image-metadata/index.ts'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import { RejectedImage } from './protocol.ts'

/**
 * Decodes a BMP to red, green and blue, and alpha if it has a mask of it. Alpha that is 0 everywhere means nothing, as browsers have it.
 * Colours that the palette lacks are black; pixels that runs skip have its first colour.
 * @throws RejectedImage
 */
export function decodeBmp(bytes: Buffer): Pixels {
  const header = readBmpHeader(bytes)
  if (header === undefined) throw new RejectedImage('bmp has a malformed header', 'damaged')
  const { width, height, depth, isTopDown, masks } = header
  const channels = (masks[3] ?? 0) === 0 ? 3 : 4
  const data = Buffer.alloc(width * height * channels)
  const readRow =
    depth <= 8
      ? indexedRows(bytes, header)
      : depth === 24
        ? colourRows(bytes, header)
        : maskedRows(bytes, header)
  const rowLength = width * channels
  for (let row = 0; row < height; row++) {
    const at = (isTopDown ? row : height - 1 - row) * rowLength
    readRow(row, data.subarray(at, at + rowLength))
  }
  if (channels === 4) showInvisible(data)
  return asPixels(data, width, height, channels)
}

/** Writes the pixels of a row, of which the first is the first in the file. */
type ReadRow = (row: number, target: Buffer) => void

function colourRows(bytes: Buffer, { pixelsAt, rowBytes }: BmpHeader): ReadRow {
  return (row, target) => {
    let from = pixelsAt + row * rowBytes
    for (let to = 0; to < target.length; to += 3, from += 3) {
      target[to] = bytes[from + 2] ?? 0
      target[to + 1] = bytes[from + 1] ?? 0
      target[to + 2] = bytes[from] ?? 0
    }
  }
}

function maskedRows(bytes: Buffer, { pixelsAt, rowBytes, depth, masks }: BmpHeader): ReadRow {
  const samples = masks
    .filter((mask, i) => i < 3 || mask !== 0)
    .map((mask) => ({
      mask,
      shift: mask === 0 ? 0 : 31 - Math.clz32(mask & -mask),
      scale: mask === 0 ? 0 : 255 / (mask >>> (31 - Math.clz32(mask & -mask))),
    }))
  const step = depth / 8
  return (row, target) => {
    let from = pixelsAt + row * rowBytes
    for (let to = 0; to < target.length; from += step) {
      const low = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8)
      const pixel = step === 2 ? low : low | ((bytes[from + 2] ?? 0) << 16) | ((bytes[from + 3] ?? 0) << 24)
      for (const { mask, shift, scale } of samples)
        target[to++] = Math.round(((pixel & mask) >>> shift) * scale)
    }
  }
}

function indexedRows(bytes: Buffer, header: BmpHeader): ReadRow {
  const { paletteAt, colourBytes, colours, pixelsAt, isCompressed, width } = header
  const palette = bytes.subarray(paletteAt, Math.min(paletteAt + colours * colourBytes, pixelsAt))
  const [indices, start, rowBytes, depth] = isCompressed
    ? [unpackRuns(bytes, header), 0, width, 8]
    : [bytes, pixelsAt, header.rowBytes, header.depth]
  const perByte = 8 / depth
  const lastIndex = (1 << depth) - 1
  return (row, target) => {
    for (let x = 0, to = 0; x < width; x++, to += 3) {
      const byte = indices[start + row * rowBytes + Math.floor(x / perByte)] ?? 0
      const colour = ((byte >> (8 - depth - (x % perByte) * depth)) & lastIndex) * colourBytes
      target[to] = palette[colour + 2] ?? 0
      target[to + 1] = palette[colour + 1] ?? 0
      target[to + 2] = palette[colour] ?? 0
    }
  }
}

/** Expands runs (RLE4, RLE8) to a byte for each pixel. */
function unpackRuns(bytes: Buffer, { width, height, depth, pixelsAt }: BmpHeader): Uint8Array {
  const indices = new Uint8Array(width * height)
  let [at, x, y] = [pixelsAt, 0, 0]
  const put = (byte: number, i: number) => {
    const index = depth === 8 ? byte : i % 2 === 0 ? byte >> 4 : byte & 15
    if (x < width && y < height) indices[y * width + x] = index
    x++
  }
  const isFull = () => y >= height || (y === height - 1 && x >= width)
  while (at + 1 < bytes.length) {
    const count = bytes[at++] ?? 0
    const value = bytes[at++] ?? 0
    if (count > 0) for (let i = 0; i < count; i++) put(value, i)
    else if (value === 0) [x, y] = [0, y + 1]
    else if (value === 1) return indices
    else if (value === 2) [x, y] = [x + (bytes[at++] ?? 0), y + (bytes[at++] ?? 0)]
    else {
      const length = Math.ceil((value * depth) / 8)
      if (at + length > bytes.length) break
      for (let i = 0; i < value; i++) put(bytes[at + Math.floor((i * depth) / 8)] ?? 0, i)
      at += length + (length % 2)
    }
  }
  // Some programs leave out the mark of the end.
  if (isFull()) return indices
  throw new RejectedImage('bmp is truncated', 'damaged')
}

function showInvisible(data: Buffer): void {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 0) return
  for (let at = 3; at < data.length; at += 4) data[at] = 255
}
