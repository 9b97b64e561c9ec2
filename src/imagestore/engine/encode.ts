import type { Sharp } from 'sharp'
import type { OutputFormat, Plan, SettledPlan } from '../modifiers/plan.ts'
import type { Source } from './source.ts'

export const outputMime = {
  jpg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
} as const satisfies Record<OutputFormat, string>

/** The format to write: the plan's, else the image's own, else (TIFF, SVG) one that every browser shows. */
export function outputFormat(plan: SettledPlan, { kind, metadata }: Source): OutputFormat {
  if (plan.format !== null) return plan.format
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
 * Measured by bench/avif.ts, of photographs: a twentieth of the default's time (4) for 1 % more bytes and 1.2 dB less. Effort 1
 * takes three times as long for 3 % fewer bytes and 0.4 dB: two cores then make nine a second from 12 megapixels.
 */
const AVIF_EFFORT = 0
/** From this quality on colours are kept at full resolution; halved, they are a tenth of the bytes. */
const AVIF_FULL_COLOUR = 90
/** Each frame has a palette of its own, made anew: measured, a seventh of the default's time for a fiftieth more bytes. */
const MOVING_GIF_EFFORT = 1
const usualQuality = { jpg: 80, webp: 80, avif: 50 } as const

export function encode(
  image: Sharp,
  format: OutputFormat,
  quality: Plan['quality'],
  animated: boolean,
): Sharp {
  const chosen = typeof quality === 'number' ? quality : undefined
  switch (format) {
    case 'jpg':
      return image.jpeg({ quality: chosen ?? usualQuality.jpg })
    case 'webp':
      return image.webp({ quality: chosen ?? usualQuality.webp })
    case 'avif':
      return avif(image, chosen ?? usualQuality.avif)
    case 'png':
      // Below 100 a PNG is reduced to a palette.
      return image.png(chosen === undefined || chosen === 100 ? {} : { palette: true, quality: chosen })
    case 'gif':
      return image.gif(animated ? { effort: MOVING_GIF_EFFORT } : {})
  }
}

function avif(image: Sharp, quality: number): Sharp {
  const chromaSubsampling = quality < AVIF_FULL_COLOUR ? '4:2:0' : '4:4:4'
  return image.avif({ quality, chromaSubsampling, effort: AVIF_EFFORT })
}
