import {
  insertPngMetadata,
  readBmpHeader,
  type BmpHeader,
  type ImageFormat,
} from '../../lib/image-metadata/index.ts'
import { asPixels, type Pixels } from '../../lib/perceptual-hash/index.ts'
import sharp from 'sharp'
import { RejectedImage, type Source } from './source.ts'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'

/** Formats that libvips does not decode, and how they are decoded. */
const DECODERS = {
  bmp: ({ bytes }: Source) => decodeBmp(bytes),
  heic: decodeHeic,
} as const

const isTranscoded = (format: ImageFormat): format is keyof typeof DECODERS => format in DECODERS

/** Puts the pixels of a picture that libvips does not decode into a PNG with the colour profile of the picture; returns others as they are. */
export async function transcode(source: Source): Promise<Source> {
  const { format, metadata } = source
  if (!isTranscoded(format)) return source
  const { data, width, height, channels } = await DECODERS[format](source)
  const picture = sharp(data, { raw: { width, height, channels } })
  const png = await (metadata.hasAlpha ? picture : picture.removeAlpha())
    .png({ compressionLevel: 0 })
    .toBuffer()
  return {
    ...source,
    bytes: insertPngMetadata(png, { icc: metadata.icc }),
    metadata: { ...metadata, depth: 'uchar', space: 'srgb' },
  }
}

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

const WASM_PAGE_BYTES = 65_536
/** For libheif itself. */
const WASM_BASE_BYTES = 64 * 1024 * 1024
/** Measured: 9 for samples of 8 bits. */
const WASM_BYTES_PER_PIXEL = 16
const CHANNELS = 4

/** What is used of libheif-js. */
interface LibHeif {
  readonly HeifDecoder: new () => { decode(bytes: Uint8Array): readonly HeifImage[] }
}

interface HeifImage {
  is_primary(): boolean
  get_width(): number
  get_height(): number
  /** Fills `target` with red, green, blue and alpha. Calls back with null if that fails. */
  display(target: { readonly data: Uint8Array }, done: (filled: object | null) => void): void
}

const require = createRequire(import.meta.url)
let isLoaded = false

/** Whether this process has decoded a HEIC. It must not decode another one: memory of WebAssembly never shrinks. */
export const hasDecodedHeic = (): boolean => isLoaded

/** Decodes the main picture of a HEIC, upright, to red, green, blue and alpha. @throws RejectedImage */
async function decodeHeic({ bytes, width, height }: Source): Promise<Pixels> {
  isLoaded = true
  // Otherwise V8 reserves more addresses for WebAssembly than this process may have.
  const memory = WASM_BASE_BYTES + width * height * WASM_BYTES_PER_PIXEL
  setFlagsFromString(`--wasm-max-mem-pages=${Math.ceil(memory / WASM_PAGE_BYTES)}`)
  const { HeifDecoder }: LibHeif = require('libheif-js/wasm-bundle.js')
  const image = new HeifDecoder().decode(bytes).find((one) => one.is_primary())
  if (image === undefined) throw new RejectedImage('heic: no picture', 'damaged')
  if (image.get_width() !== width || image.get_height() !== height)
    throw new RejectedImage('heic: two sizes', 'damaged')
  const data = Buffer.alloc(width * height * CHANNELS)
  const filled = await new Promise((resolve) => image.display({ data }, resolve))
  if (filled === null) throw new RejectedImage('heic: the picture cannot be decoded', 'damaged')
  return asPixels(data, width, height, CHANNELS)
}
