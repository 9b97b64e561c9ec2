/** Reads and edits image containers without decoding pixels. See README.md. */
import { bmpStructure, isBmp } from './bmp.ts'
import type { ImageFormat, Structure } from './container.ts'
import { gifStructure, stripGif } from './gif.ts'
import { heifStructure, stripHeif } from './heif.ts'
import { jpegStructure, stripJpeg } from './jpeg.ts'
import { pngStructure, stripPng } from './png.ts'
import { isSvg, svgStructure } from './svg.ts'
import { stripTiff, tiffStructure } from './tiff.ts'
import { stripWebp, webpStructure } from './webp.ts'

export { readBmpHeader, type BmpHeader } from './bmp.ts'
export { cleanExif, cleanIptc, cleanXmp } from './metadata.ts'
export { mimeOf, type ImageFormat, type Structure } from './container.ts'
export { colourTableBytes, gifBlocks, isGraphicControl } from './gif.ts'
export { insertApp13 } from './jpeg.ts'
export { insertPngMetadata, insertPngProfile, pngColourOf } from './png.ts'
export { normalizeSvg } from './svg.ts'
export { pagesAfterFirst } from './tiff.ts'

interface Container {
  readonly structure: (bytes: Buffer) => Structure
  /** Undefined, or a RangeError, if the file is malformed. */
  readonly strip: (bytes: Buffer) => Buffer | undefined
}

const containers: Readonly<Record<ImageFormat, Container>> = {
  avif: { structure: heifStructure, strip: stripHeif },
  // The format has no place for metadata.
  bmp: { structure: bmpStructure, strip: (bytes) => bytes },
  gif: { structure: gifStructure, strip: stripGif },
  heic: { structure: heifStructure, strip: stripHeif },
  jpeg: { structure: jpegStructure, strip: stripJpeg },
  png: { structure: pngStructure, strip: stripPng },
  // SVG is text that its author reads and writes: nothing in it is hidden.
  svg: { structure: svgStructure, strip: (bytes) => bytes },
  tiff: { structure: tiffStructure, strip: stripTiff },
  webp: { structure: webpStructure, strip: stripWebp },
}

export const readStructure = (format: ImageFormat, bytes: Buffer): Structure =>
  containers[format].structure(bytes)

/**
 * Removes metadata: place, time, camera, owner, thumbnails, comments. Pixels are not touched. Orientation and colour
 * profile stay, because the picture looks wrong without them.
 * @returns undefined if the file is malformed, so that what is left in it is unknown
 */
export function stripMetadata(bytes: Buffer): Buffer | undefined {
  const format = detectFormat(bytes)
  try {
    return format === undefined ? undefined : containers[format].strip(bytes)
  } catch (error) {
    // A length that points past the end of the file.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Still images in HEVC: of 8 bits, of more, of several layers. */
const HEIC_BRANDS = new Set(['heic', 'heix', 'heim', 'heis'])
const TIFF_SIGNATURES = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']

/** Detects the format from the bytes alone; undefined for unsupported ones (sequences of AVIF and HEIC, svgz, PDF…). */
export function detectFormat(bytes: Buffer): ImageFormat | undefined {
  const head = bytes.toString('latin1', 0, 16)
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'webp'
  if (head.slice(4, 8) === 'ftyp') return findStill(bytes)
  if (isBmp(bytes)) return 'bmp'
  if (TIFF_SIGNATURES.some((signature) => head.startsWith(signature))) return 'tiff'
  return isSvg(bytes) ? 'svg' : undefined
}

/** The format of a still image, by the brands that the file names. */
function findStill(bytes: Buffer): 'avif' | 'heic' | undefined {
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 256)
  const major = bytes.toString('latin1', 8, 12)
  if (major === 'avif') return 'avif'
  if (HEIC_BRANDS.has(major)) return 'heic'
  if (major !== 'mif1' && major !== 'miaf') return undefined
  const compatible: string[] = []
  for (let at = 16; at + 4 <= end; at += 4) compatible.push(bytes.toString('latin1', at, at + 4))
  if (compatible.includes('avif')) return 'avif'
  return compatible.some((brand) => HEIC_BRANDS.has(brand)) ? 'heic' : undefined
}
