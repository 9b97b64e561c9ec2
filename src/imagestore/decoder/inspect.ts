import { mimeOf } from '../../lib/image-metadata/index.ts'
import { asPixels, clipGray, cmykToRgb, dhash, highBytes } from '../../lib/perceptual-hash/index.ts'
import { releaseBuffer } from '../../lib/release-buffer.ts'
import { firstFrameLuma } from './gif.ts'
import { openSharp, RejectedImage, type Source } from './source.ts'
import { thumbhash } from './thumbhash.ts'
import type { InspectedImage } from './types.ts'

/** Decodes every pixel of every frame once and hashes the first frame. Rejects if the image does not decode. */
export async function inspectSource(source: Source): Promise<InspectedImage> {
  const { format, width, height, frames } = source
  const hashes = await decodeAndHash(source)
  if (format === 'tiff') await decodeOtherPages(source)
  return { kind: 'image', format, mime: mimeOf[format], width, height, frames, ...hashes }
}

/** Decodes animations as one tall image, so that one pass decodes all frames; the top of it is hashed. */
async function decodeAndHash({ bytes, format, structure, metadata, frames, maxPixels }: Source) {
  const isAnimated = frames > 1 && (format === 'gif' || format === 'webp')
  // Without colour profiles: the hash is of the samples as stored.
  const image = openSharp(bytes, maxPixels, { ignoreIcc: true, ...(isAnimated ? { pages: -1 } : {}) })
  if (!isAnimated) image.autoOrient()
  const isClipped =
    structure.clipsGray || (format === 'tiff' && metadata.space === 'grey16' && !metadata.hasAlpha)
  const isCmyk = metadata.space === 'cmyk'
  // libvips itself reduces other 16-bit samples to their high bytes; CMYK it would clip.
  const isDeep = isClipped || (isCmyk && metadata.depth === 'ushort')
  if (isClipped) image.pipelineColourspace('grey16').toColourspace('grey16')
  if (isCmyk) image.pipelineColourspace('cmyk').toColourspace('cmyk')
  const { data, info } = await image
    .raw({ depth: isDeep ? 'ushort' : 'uchar' })
    .toBuffer({ resolveWithObject: true })
  const { width, channels } = info
  const height = isAnimated ? (info.pageHeight ?? info.height / frames) : info.height
  const deep = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length >> 1) : undefined
  const samples = deep === undefined ? data : highBytes(deep)
  if (isCmyk) cmykToRgb(samples)
  const visible = asPixels(samples, width, height, channels)
  const clipped =
    deep !== undefined && isClipped ? asPixels(clipGray(deep), width, height, channels) : visible
  const stored = format === 'gif' ? firstFrameLuma(bytes) : undefined
  const hashes = { dhash: dhash(stored ?? clipped), thumbhash: thumbhash(visible, !isCmyk) }
  releaseBuffer(data)
  return hashes
}

/** Pages of a TIFF may differ in size, so each is decoded separately; all of them count towards the pixel limit. */
async function decodeOtherPages(source: Source): Promise<void> {
  const { bytes, frames, maxPixels } = source
  let left = maxPixels - source.storedWidth * source.storedHeight
  for (let page = 1; page < frames; page++) {
    const image = openSharp(bytes, maxPixels, { page })
    const { width, height } = await image.metadata()
    left -= width * height
    if (left < 0) throw new RejectedImage('too many pixels')
    releaseBuffer(await image.raw().toBuffer())
  }
}
