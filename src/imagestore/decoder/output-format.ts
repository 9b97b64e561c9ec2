import { mimeOf } from '../../lib/image-metadata/index.ts'
import type { OutputFormat, ResolvedTransformation, Transformation } from '../../lib/modifiers/index.ts'
import type { Source } from './source.ts'

export const outputMime: Readonly<Record<OutputFormat, string>> = { ...mimeOf, jpg: mimeOf.jpeg }

/** True if the derivative keeps the frames of an animation. Steps that libvips does not apply per frame make it a still image. */
export function staysAnimated(
  plan: Transformation,
  source: { readonly format: string; readonly frames: number },
  output: string,
): boolean {
  const isStillOnly =
    plan.trim ||
    plan.rotate !== 0 ||
    plan.flip ||
    plan.flop ||
    plan.pad > 0 ||
    plan.pixelate > 0 ||
    plan.radius !== 0 ||
    plan.fit === 'pad' ||
    plan.gravity.kind === 'auto' ||
    plan.gravity.kind === 'entropy' ||
    plan.frame !== null
  const isAnimatedFormat = (format: string) => format === 'gif' || format === 'webp'
  return isAnimatedFormat(source.format) && source.frames > 1 && isAnimatedFormat(output) && !isStillOnly
}

/**
 * The format to write: the plan's, else the image's own, else (TIFF, SVG) one that every browser shows. If the client
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
      return metadata.hasAlpha ? 'png' : 'jpg'
    case 'png':
    case 'gif':
    case 'webp':
    case 'avif':
      return format
  }
}
