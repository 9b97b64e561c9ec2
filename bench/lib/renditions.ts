import type { Sharp } from 'sharp'

/** What pictures become, and how each contender is asked for it. */
export interface Rendition {
  readonly name: 'jpeg' | 'png' | 'webp' | 'avif'
  readonly title: string
  /** Our modifiers. */
  readonly token: string
  /** Modifiers of ipx. */
  readonly ipx: string
  /** Of the query of an asset of Directus. */
  readonly directus: string
  /** As the service does it. */
  readonly encode: (image: Sharp) => Sharp
  /** Requests a second of imgproxy by the public image servers' benchmark, of 2 megapixels on 2 virtual cores. */
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

/** Pixels a side of the box that pictures are made to fit. */
export const BOX = 512
