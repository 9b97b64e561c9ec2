import { crc32, deflateSync } from 'node:zlib'
import { exifWithOrientation, orientationOf } from './metadata.ts'
import { complete, KeptRanges, truncated, type Structure } from './container.ts'
import { createProfile, SRGB, type Chromaticities } from './icc.ts'

/** Where the first chunk, IHDR, ends. */
const IHDR_END = 33
const COLOUR_TYPE_GRAY = 0
/** Bit of the colour type in IHDR: samples are colours. */
const COLOUR_FLAG = 2
const XMP_KEYWORD = Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1')
/** Chunks that are needed to show the picture, including those of APNG. */
const KEPT_CHUNKS = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD pHYs acTL fcTL fdAT sPLT hIST mDCV cLLI'.split(
    ' ',
  ),
)

interface Chunk {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly data: Buffer
}

/** Yields the chunks that lie wholly within the file. */
function* chunksOf(png: Buffer): Generator<Chunk> {
  for (let start = 8; start + 12 <= png.length;) {
    const end = start + 12 + png.readUInt32BE(start)
    if (end > png.length) return
    yield {
      type: png.toString('latin1', start + 4, start + 8),
      start,
      end,
      data: png.subarray(start + 8, end - 4),
    }
    start = end
  }
}

function createChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(data.length)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}

/** Reads chunks up to IEND. libpng verifies the checksums of those that it uses. */
export function pngStructure(bytes: Buffer): Structure {
  if (bytes.length < IHDR_END) return truncated
  for (const { type } of chunksOf(bytes)) {
    if (type === 'IEND')
      return {
        ...complete,
        buffered: bytes[28] === 1,
        clipsGray: bytes[24] === 16 && bytes[25] === COLOUR_TYPE_GRAY,
      }
  }
  return truncated
}

export function stripPng(bytes: Buffer): Buffer | undefined {
  const kept = new KeptRanges()
  kept.add(0, 8)
  let exif: Buffer | undefined
  let exifAt = 0
  for (const { type, start, end, data } of chunksOf(bytes)) {
    if (KEPT_CHUNKS.has(type)) kept.add(start, end)
    else if (type === 'eXIf' && exif === undefined) {
      const orientation = orientationOf(data)
      if (orientation !== 1) exif = createChunk('eXIf', exifWithOrientation(orientation))
      exifAt = kept.length
    }
    if (type === 'IEND') return kept.copy(bytes, exif, exifAt)
  }
  return undefined
}

interface PngMetadata {
  readonly exif?: Buffer | undefined
  readonly xmp?: Buffer | undefined
  readonly icc?: Buffer | undefined
}

/** Inserts metadata after IHDR. */
export function insertPngMetadata(png: Buffer, { exif, xmp, icc }: PngMetadata): Buffer {
  const chunks = [
    icc && createChunk('iCCP', Buffer.concat([Buffer.from('ICC\0\0', 'latin1'), deflateSync(icc)])),
    exif && createChunk('eXIf', exif),
    xmp && createChunk('iTXt', Buffer.concat([XMP_KEYWORD, xmp])),
  ].filter((chunk) => chunk !== undefined)
  return Buffer.concat([png.subarray(0, IHDR_END), ...chunks, png.subarray(IHDR_END)])
}

/** `gAMA` and `cHRM` are in hundred-thousandths. */
const COLOUR_UNIT = 100_000
/** The value of `gAMA` for sRGB. */
const SRGB_GAMMA = 0.45455
/** Invisible differences (libpng's own threshold). */
const GAMMA_TOLERANCE = 0.05
const CHROMATICITY_TOLERANCE = 0.01

/** The colour space of samples that are not sRGB: light to the power of `gamma`, with these primaries. */
export interface PngColour {
  readonly gamma: number
  readonly chromaticities: Chromaticities | undefined
}

/**
 * Reads `gAMA` and `cHRM`. Undefined if they say sRGB, or if `sRGB`, `iCCP` or `cICP` take precedence (PNG, third edition,
 * section 4.3).
 */
export function pngColourOf(png: Buffer): PngColour | undefined {
  let gamma: number | undefined
  let chromaticities: Chromaticities | undefined
  for (const { type, data } of chunksOf(png)) {
    if (type === 'iCCP' || type === 'sRGB' || type === 'cICP') return undefined
    if (type === 'gAMA' && data.length === 4 && data.readUInt32BE() > 0)
      gamma = data.readUInt32BE() / COLOUR_UNIT
    if (type === 'cHRM' && data.length === 32) chromaticities = readChromaticities(data)
    if (type === 'IDAT') break
  }
  if (gamma === undefined) return undefined
  const isSrgb =
    Math.abs(gamma / SRGB_GAMMA - 1) <= GAMMA_TOLERANCE &&
    (chromaticities === undefined || areSimilar(chromaticities, SRGB))
  return isSrgb ? undefined : { gamma, chromaticities }
}

/** Inserts an ICC profile for `gAMA` and `cHRM`, which libvips ignores. Returns the PNG itself if there is none to insert. */
export function insertPngProfile(png: Buffer, colour: PngColour | undefined): Buffer {
  if (colour === undefined) return png
  const hasColours = ((png[25] ?? 0) & COLOUR_FLAG) !== 0
  const icc = createProfile(1 / colour.gamma, hasColours ? (colour.chromaticities ?? SRGB) : undefined)
  return icc === undefined ? png : insertPngMetadata(png, { icc })
}

function readChromaticities(data: Buffer): Chromaticities {
  const point = (index: number): readonly [number, number] => [
    data.readUInt32BE(index * 8) / COLOUR_UNIT,
    data.readUInt32BE(index * 8 + 4) / COLOUR_UNIT,
  ]
  return { white: point(0), primaries: [point(1), point(2), point(3)] }
}

function areSimilar(one: Chromaticities, other: Chromaticities): boolean {
  const numbersOf = ({ white, primaries }: Chromaticities) => [white, ...primaries].flat()
  const others = numbersOf(other)
  return numbersOf(one).every((value, i) => Math.abs(value - (others[i] ?? 0)) <= CHROMATICITY_TOLERANCE)
}
