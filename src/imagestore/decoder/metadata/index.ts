import sharp, { type Metadata, type Sharp } from 'sharp'
import { chunk } from '../png-chunk.ts'
import { cleanExif } from './exif.ts'
import { cleanIptc } from './iptc.ts'
import { cleanXmp } from './xmp.ts'

const IHDR_END = 33
const APP13 = 0xed
const XMP_KEYWORD = Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1')

/**
 * Opens a picture with what the original says beside it: EXIF and XMP, without thumbnails and colour profile. A profile would be wrong,
 * since derivatives are in sRGB, and a thumbnail may show what was cropped or covered.
 */
export async function withMetadata(image: Sharp, { exif, xmp }: Metadata): Promise<() => Sharp> {
  const kept = { exif: exif && cleanExif(exif), xmp: xmp && cleanXmp(xmp) }
  // The library takes metadata from its input only: a PNG that is not compressed carries both.
  const png = await image.png({ compressionLevel: 0 }).toBuffer()
  const chunks = [
    ...(kept.exif === undefined ? [] : [chunk('eXIf', kept.exif)]),
    ...(kept.xmp === undefined ? [] : [chunk('iTXt', Buffer.concat([XMP_KEYWORD, kept.xmp]))]),
  ]
  const carrier = Buffer.concat([png.subarray(0, IHDR_END), ...chunks, png.subarray(IHDR_END)])
  return () => sharp(carrier, { limitInputPixels: false }).keepExif().keepXmp()
}

/** A JPEG with the IPTC of the original, which no other format written here has a place for. */
export function withIptc(jpeg: Buffer, { iptc }: Metadata): Buffer {
  const content = iptc && cleanIptc(iptc)
  if (content === undefined) return jpeg
  const head = Buffer.from([0xff, APP13, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  // Behind the mark that begins the file and the application segments that are there: JFIF or EXIF want to be first.
  let at = 2
  while (jpeg[at] === 0xff && (jpeg[at + 1] ?? 0) >= 0xe0 && (jpeg[at + 1] ?? 0) <= 0xef)
    at += 2 + jpeg.readUInt16BE(at + 2)
  return Buffer.concat([jpeg.subarray(0, at), head, content, jpeg.subarray(at)])
}
