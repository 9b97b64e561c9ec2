import sharp from 'sharp'
import { insertPngMetadata, type ImageFormat } from '../../lib/image-metadata/index.ts'
import { decodeBmp } from './bmp.ts'
import { decodeHeic } from './heic.ts'
import type { Source } from './source.ts'

/** Formats that libvips does not decode, and how they are decoded. */
const DECODERS = {
  bmp: ({ bytes }: Source) => decodeBmp(bytes),
  heic: ({ bytes, width, height }: Source) => decodeHeic(bytes, { width, height }),
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
