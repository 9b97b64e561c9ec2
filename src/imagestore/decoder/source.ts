import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp'
import { isHashOf } from '../hash.ts'
import { readWhole } from './file-bytes.ts'
import { detectKind } from './kind.ts'
import { withTransparency } from './gif-transparency.ts'
import { colourOf, withColourProfile } from './png-colour.ts'
import { readStructure, type Structure } from './structure/index.ts'
import { readableSvg } from './svg-text.ts'
import type { ImageKind } from './types.ts'

/** A file whose container is whole and whose header a decoder has accepted. */
export interface Source {
  /** As the decoder takes them: those of the file, but for some SVG. */
  readonly bytes: Buffer
  readonly kind: ImageKind
  readonly structure: Structure
  readonly metadata: Metadata
  /** One frame, as stored. */
  readonly storedWidth: number
  readonly storedHeight: number
  /** One frame, as a person sees it. */
  readonly width: number
  readonly height: number
  readonly frames: number
  readonly maxPixels: number
}

/** EXIF orientations from here on swap width and height. */
const FIRST_TURNED_ORIENTATION = 5

const DEEP_SPACES = new Set(['rgb16', 'grey16'])

/** Why a file is no image that we take; the text is for the log. */
export class RefusedImage extends Error {}

/** The file does not hold the bytes that were stored: what still decodes of them is another picture. */
export class AlteredImage extends Error {}

export function openSharp(bytes: Buffer, maxPixels: number, options: SharpOptions = {}): Sharp {
  // From bytes, never from a path: with a path, SVG may read files that lie beside it.
  return sharp(bytes, { failOn: 'warning', limitInputPixels: maxPixels, ...options })
}

/** Opens an image to show it: with the colours and the transparency that browsers give it. */
export async function openPicture(source: Source, options: SharpOptions = {}): Promise<Sharp> {
  const { kind, bytes, maxPixels, metadata } = source
  let shown = bytes
  if (kind === 'gif') shown = withTransparency(bytes)
  else if (kind === 'png' && metadata.space === 'grey16') {
    // The library applies no profile to 16-bit gray. As colours of 16 bits it does, without loss.
    const colour = colourOf(bytes)
    if (colour !== undefined) {
      const coloured = openSharp(bytes, maxPixels).keepExif().toColourspace('rgb16')
      shown = withColourProfile(await coloured.png({ compressionLevel: 0 }).toBuffer(), colour)
    } else if (metadata.icc !== undefined) {
      const reduced = openSharp(bytes, maxPixels).keepExif().keepIccProfile().toColourspace('b-w')
      shown = await reduced.png({ compressionLevel: 0 }).toBuffer()
    }
  } else if (kind === 'png') shown = withColourProfile(bytes, colourOf(bytes))
  const image = openSharp(shown, maxPixels, options)
  const hasProfile = shown !== bytes || metadata.icc !== undefined
  // The library brings 16-bit colours with a profile to Display P3, and leaves them there unless it is told what to write.
  if (DEEP_SPACES.has(metadata.space) && hasProfile) image.withIccProfile('srgb', { attach: false })
  return image
}

/**
 * @param room where the file's bytes may come to stand: the source is good until the next one stands there
 * @param hash what the bytes have to be
 */
export async function openSource(
  path: string,
  maxPixels: number,
  room?: Buffer,
  hash?: string,
): Promise<Source> {
  const file = readWhole(path, room)
  if (hash !== undefined && !isHashOf(file, hash)) throw new AlteredImage('not the bytes that were stored')
  const kind = detectKind(file)
  if (kind === undefined) throw new RefusedImage('not an accepted kind')
  const bytes = kind === 'svg' ? readableSvg(file) : file
  if (bytes === undefined) throw new RefusedImage('svg is not in its encoding')
  const structure = readStructure(kind, bytes)
  if (!structure.complete) throw new RefusedImage(`${kind} ends early`)
  const metadata = await openSharp(bytes, maxPixels).metadata()
  const { width, height, orientation = 1 } = metadata
  const storedHeight = metadata.pageHeight ?? height
  const frames = kind === 'avif' ? 1 : (metadata.pages ?? 1)
  if (width * storedHeight * frames > maxPixels) throw new RefusedImage('too many pixels')
  const turned = orientation >= FIRST_TURNED_ORIENTATION
  return {
    bytes,
    kind,
    structure,
    metadata,
    storedWidth: width,
    storedHeight,
    width: turned ? storedHeight : width,
    height: turned ? width : storedHeight,
    frames,
    maxPixels,
  }
}
