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

/** Measured: a sixth of the default's time for the same size and half a decibel. */
const AVIF_EFFORT = 2
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
      return image.avif({ quality: chosen ?? usualQuality.avif, effort: AVIF_EFFORT })
    case 'png':
      // Below 100 a PNG is reduced to a palette.
      return image.png(chosen === undefined || chosen === 100 ? {} : { palette: true, quality: chosen })
    case 'gif':
      return image.gif(animated ? { effort: MOVING_GIF_EFFORT } : {})
  }
}
