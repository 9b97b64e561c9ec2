import { releaseBuffer } from '../../lib/release-buffer.ts'
import { dhash } from './dhash.ts'
import { gifFirstFrame } from './gif-first-frame.ts'
import { mimeOf } from './kind.ts'
import { asPixels, clipGray, cmykToRgb, upperBytes } from './luma.ts'
import { openSharp, RefusedImage, type Source } from './source.ts'
import { thumbhash } from './thumbhash.ts'
import type { InspectedImage } from './types.ts'

type Hashes = Pick<InspectedImage, 'dhash' | 'thumbhash'>

/** Decodes every pixel of every frame once, and hashes the first frame from that. Rejects when the image does not decode. */
export async function inspectSource(source: Source): Promise<InspectedImage> {
  const { kind, width, height, frames } = source
  const hashes = await decodeFirst(source)
  if (kind === 'tiff') await decodeOtherPages(source)
  return { kind: 'image', format: kind, mime: mimeOf[kind], width, height, frames, ...hashes }
}

/** Animations come as one tall image, so that all frames are decoded in one pass; the hash takes its top. */
async function decodeFirst({ bytes, kind, structure, metadata, frames, maxPixels }: Source): Promise<Hashes> {
  const animated = frames > 1 && (kind === 'gif' || kind === 'webp')
  // Colour profiles are left alone: the hash is of the samples as stored.
  const image = openSharp(bytes, maxPixels, { ignoreIcc: true, ...(animated ? { pages: -1 } : {}) })
  if (!animated) image.autoOrient()
  const clips = structure.clipsGray || (kind === 'tiff' && metadata.space === 'grey16' && !metadata.hasAlpha)
  const cmyk = metadata.space === 'cmyk'
  // The library brings other deep samples to their high bytes by itself; of inks it would clip them.
  const isDeep = clips || (cmyk && metadata.depth === 'ushort')
  if (clips) image.pipelineColourspace('grey16').toColourspace('grey16')
  if (cmyk) image.pipelineColourspace('cmyk').toColourspace('cmyk')
  const { data, info } = await image
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const frameHeight = animated ? (info.pageHeight ?? info.height / frames) : info.height
  const { width, channels } = info
  const deep = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length >> 1) : undefined
  const samples = deep === undefined ? data : upperBytes(deep)
  if (cmyk) cmykToRgb(samples)
  const seen = asPixels(samples, width, frameHeight, channels)
  const asStored = kind === 'gif' ? gifFirstFrame(bytes) : undefined
  const hashed = deep !== undefined && clips ? asPixels(clipGray(deep), width, frameHeight, channels) : seen
  const hashes = { dhash: dhash(asStored ?? hashed), thumbhash: thumbhash(seen, !cmyk) }
  releaseBuffer(data)
  return hashes
}

/** Pages of a TIFF may differ in size, so each is decoded alone; all of them count towards the limit. */
async function decodeOtherPages({
  bytes,
  storedWidth,
  storedHeight,
  frames,
  maxPixels,
}: Source): Promise<void> {
  let left = maxPixels - storedWidth * storedHeight
  for (let page = 1; page < frames; page++) {
    const image = openSharp(bytes, maxPixels, { page })
    const { width, height } = await image.metadata()
    left -= width * height
    if (left < 0) throw new RefusedImage('too many pixels')
    releaseBuffer(await image.raw().toBuffer())
  }
}
