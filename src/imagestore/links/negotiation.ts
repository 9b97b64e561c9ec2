import type { IncomingHttpHeaders } from 'node:http'
import {
  isIdentity,
  type AcceptedFormat,
  type ResolvedTransformation,
  type Transformation,
} from '../modifiers/index.ts'
import { staysAnimated } from '../decoder/output-format.ts'

/** What negotiation has to know of an image. */
interface NegotiatedImage {
  readonly format: string
  readonly mime: string
  readonly frames: number
}

interface Negotiation {
  readonly transformation: ResolvedTransformation
  /** Request headers that the answer depends on, in lower case. */
  readonly varies: readonly string[]
}

/**
 * Resolves `f_auto` by the header `Accept`; the encoder writes the smallest of the accepted formats. A link without it means the
 * same for every client.
 */
export function negotiate(
  requested: Transformation,
  image: NegotiatedImage,
  { accept }: IncomingHttpHeaders,
): Negotiation {
  const { format } = requested
  if (format !== 'auto') return { transformation: { ...requested, format }, varies: [] }
  const transformation = { ...requested, format: null }
  const accepted = acceptedFormats(transformation, image, accept)
  // Then the original may be served, which costs nothing.
  const isOriginal = accepted.every((one) => one === 'own' || one === 'png') && isIdentity(transformation)
  return {
    transformation: isOriginal ? transformation : { ...transformation, accepted },
    varies: ['accept'],
  }
}

/** Formats in which a photograph is written whose own format is lossless or shown by few browsers, or a drawing that has no lossless original. */
const isFallback = (format: AcceptedFormat): boolean => format === 'jpg' || format === 'png'
const becomesJpeg = (format: string): boolean => ['png', 'tiff', 'bmp', 'heic'].includes(format)

/** The formats of the highest weight. */
function acceptedFormats(
  transformation: ResolvedTransformation,
  image: NegotiatedImage,
  accept: string | undefined,
): AcceptedFormat[] {
  const weights = readAccept(accept)
  const isAnimated = staysAnimated(transformation, image, 'webp')
  // Newer formats have to be named: clients that cannot show them send `*/*` too.
  const named = (format: string) => weights.get(`image/${format}`) ?? 0
  const candidates: readonly (readonly [AcceptedFormat, number])[] = [
    ['avif', isAnimated ? 0 : named('avif')],
    ['webp', named('webp')],
    ['jpg', becomesJpeg(image.format) ? weightOf(weights, 'image/jpeg') : 0],
    ['png', isAnimated ? 0 : weightOf(weights, 'image/png')],
    ['own', weightOf(weights, image.mime)],
  ]
  const best = Math.max(...candidates.map(([format, weight]) => (isFallback(format) ? 0 : weight)))
  const isNewer = named('avif') > 0 || named('webp') > 0
  const accepted = candidates
    .filter(([format, weight]) => weight > 0 && weight >= best && !(format === 'jpg' && isNewer))
    .map(([format]) => format)
  if (accepted.every(isFallback)) return ['own', ...accepted]
  // `webp` and `own` are the same for a WebP that stays one.
  return accepted.includes('own') ? accepted.filter((format) => format !== image.format) : accepted
}

/** Media ranges with their weights (RFC 9110, section 12.5.1). */
type Weights = ReadonlyMap<string, number>

/** Far more entries than browsers send. */
const MAX_ACCEPT_ENTRIES = 50

/** Parses what can be parsed of an `Accept` header. */
function readAccept(header: string | undefined): Weights {
  const weights = new Map<string, number>()
  for (const entry of (header ?? '').split(',', MAX_ACCEPT_ENTRIES)) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    if (range === '') continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    const isValid = weight === undefined || /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight)
    weights.set(range, isValid ? Number(weight ?? 1) : 0)
  }
  return weights
}

/** The weight of the most specific range that matches. Without the header every type is equally accepted. */
function weightOf(weights: Weights, mime: string): number {
  if (weights.size === 0) return 1
  return weights.get(mime) ?? weights.get('image/*') ?? weights.get('*/*') ?? 0
}
