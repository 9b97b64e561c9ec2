import type { Sharp } from 'sharp'

/** An output format, and how to request it from each contender. */
export interface Rendition {
  readonly name: 'jpeg' | 'png' | 'webp' | 'avif'
  readonly title: string
  /** Modifiers of the service. */
  readonly token: string
  /** Modifiers of ipx. */
  readonly ipx: string
  /** Query parameters of an asset of Directus. */
  readonly directus: string
  /** Encodes as the service does. */
  readonly encode: (image: Sharp) => Sharp
  /** Requests per second of imgproxy in the public benchmark of image servers: 2 megapixels, 2 virtual cores. */
  readonly yardstick: number
}

export const renditions: readonly Rendition[] = [
  {
    name: 'jpeg',
    title: 'JPEG q80',
    token: 'f_jpg,q_80',
    ipx: 'f_jpeg,q_80',
    directus: 'format=jpg&quality=80',
    encode: (image) => image.jpeg({ quality: 80 }),
    yardstick: 80,
  },
  {
    name: 'png',
    title: 'PNG',
    token: 'f_png',
    ipx: 'f_png',
    directus: 'format=png',
    encode: (image) => image.png(),
    yardstick: 19,
  },
  {
    name: 'webp',
    title: 'WebP q80',
    token: 'f_webp,q_80',
    ipx: 'f_webp,q_80',
    directus: 'format=webp&quality=80',
    encode: (image) => image.webp({ quality: 80 }),
    yardstick: 22,
  },
  {
    name: 'avif',
    title: 'AVIF q50',
    token: 'f_avif,q_50',
    ipx: 'f_avif,q_50',
    directus: 'format=avif&quality=50',
    encode: (image) => image.avif({ quality: 50, effort: 0, chromaSubsampling: '4:2:0' }),
    yardstick: 13,
  },
]

/** Side of the box that pictures are resized to fit, in pixels. */
export const BOX = 512
