import type { Sharp } from 'sharp'
import type { OutputFormat, SettledPlan } from '../links/modifiers/plan.ts'
import { staysAnimated } from './motion.ts'
import type { Source } from './source.ts'

export const outputMime = {
  jpg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
} as const satisfies Record<OutputFormat, string>

/**
 * The format to write: the plan's, else the image's own, else (TIFF, SVG) one that every browser shows. Where the client has a say, the
 * one that takes most to write of what is welcome.
 */
export function outputFormat(plan: SettledPlan, source: Source): OutputFormat {
  if (plan.format !== null) return plan.format
  const formats = plan.client?.formats ?? []
  if (formats.includes('webp') && staysAnimated(plan, source, 'webp')) return 'webp'
  if (formats.includes('avif')) return 'avif'
  if (formats.includes('webp')) return 'webp'
  return ownFormat(source)
}

export function ownFormat({ kind, metadata }: Pick<Source, 'kind' | 'metadata'>): OutputFormat {
  switch (kind) {
    case 'jpeg':
      return 'jpg'
    case 'svg':
      return 'png'
    case 'tiff':
      return metadata.hasAlpha ? 'png' : 'jpg'
    case 'png':
    case 'gif':
    case 'webp':
    case 'avif':
      return kind
  }
}

/**
 * AVIF of quality 67 and WebP of quality 80 look the same (SSIMULACRA, bench/auto.ts); from effort 1 on AVIF then has fewer bytes. Each
 * effort takes about twice as long as the one before, so larger images get less.
 */
const USUAL_QUALITY = { jpg: 80, webp: 80, avif: 67 } as const
const LIGHT_QUALITY = { jpg: 55, webp: 55, avif: 45 } as const
/** At the efforts that larger images get, AVIF has hardly fewer bytes than WebP, or more. */
export const AVIF_WORTH_PIXELS = 600_000
const AVIF_EFFORTS: readonly (readonly [pixels: number, effort: number])[] = [
  [AVIF_WORTH_PIXELS, 3],
  [2_000_000, 2],
  [8_000_000, 1],
  [Infinity, 0],
]
/** From this quality on colours are kept at full resolution; halved, they are a tenth of the bytes. */
const AVIF_FULL_COLOUR = 90
/** Each frame has a palette of its own, made anew: measured, a seventh of the default's time for a fiftieth more bytes. */
const MOVING_GIF_EFFORT = 1

/** @param pixels of the output */
export function encode(
  image: Sharp,
  format: OutputFormat,
  { quality, client }: Pick<SettledPlan, 'quality' | 'client'>,
  animated: boolean,
  pixels: number,
): Sharp {
  const chosen = typeof quality === 'number' ? quality : undefined
  const usual = client?.light === true ? LIGHT_QUALITY : USUAL_QUALITY
  switch (format) {
    case 'jpg':
      return image.jpeg({ quality: chosen ?? usual.jpg })
    case 'webp':
      return image.webp({ quality: chosen ?? usual.webp })
    case 'avif': {
      const avif = chosen ?? usual.avif
      const effort = AVIF_EFFORTS.find(([most]) => pixels <= most)?.[1] ?? 0
      return image.avif({
        quality: avif,
        chromaSubsampling: avif < AVIF_FULL_COLOUR ? '4:2:0' : '4:4:4',
        effort,
      })
    }
    case 'png':
      // Below 100 a PNG is reduced to a palette.
      return image.png(chosen === undefined || chosen === 100 ? {} : { palette: true, quality: chosen })
    case 'gif':
      return image.gif(animated ? { effort: MOVING_GIF_EFFORT } : {})
  }
}
