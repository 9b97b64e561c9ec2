import { mimeOf } from '../../lib/image-metadata/index.ts'
import {
  needsStill,
  type OutputFormat,
  type ResolvedTransformation,
  type Transformation,
} from '../modifiers/index.ts'
import type { Source } from './source.ts'

export const outputMime: Readonly<Record<OutputFormat, string>> = { ...mimeOf, jpg: mimeOf.jpeg }

/** True if the derivative keeps the frames of an animation. */
export function staysAnimated(
  plan: Transformation,
  source: { readonly format: string; readonly frames: number },
  output: string,
): boolean {
  const isAnimatedFormat = (format: string) => format === 'gif' || format === 'webp'
  return isAnimatedFormat(source.format) && source.frames > 1 && isAnimatedFormat(output) && !needsStill(plan)
}

/**
 * The format to write: the plan's, else the image's own, else (TIFF, BMP, HEIC, SVG) one that every browser shows. If the client
 * chooses, the accepted format that takes most resources to write.
 */
export function outputFormat(plan: ResolvedTransformation, source: Source): OutputFormat {
  if (plan.format !== null) return plan.format
  const formats = plan.accepted ?? []
  if (formats.includes('webp') && staysAnimated(plan, source, 'webp')) return 'webp'
  if (formats.includes('avif')) return 'avif'
  if (formats.includes('webp')) return 'webp'
  return ownFormat(source)
}

export function ownFormat({ format, metadata }: Pick<Source, 'format' | 'metadata'>): OutputFormat {
  switch (format) {
    case 'jpeg':
      return 'jpg'
    case 'svg':
      return 'png'
    case 'tiff':
    case 'bmp':
    case 'heic':
      return metadata.hasAlpha ? 'png' : 'jpg'
    case 'png':
    case 'gif':
    case 'webp':
    case 'avif':
      return format
  }
}
