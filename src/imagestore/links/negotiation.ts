import type { IncomingHttpHeaders } from 'node:http'
import {
  isIdentity,
  MAX_SIDE_PIXELS,
  type AcceptedFormat,
  type ResolvedTransformation,
  type Transformation,
} from '../../lib/modifiers/index.ts'
import { staysAnimated } from '../decoder/output-format.ts'

/** What negotiation has to know of an image. */
export interface NegotiatedImage {
  readonly format: string
  readonly mime: string
  readonly frames: number
}

export interface Negotiation {
  readonly transformation: ResolvedTransformation
  /** Request headers that the answer depends on, in lower case. */
  readonly varies: readonly string[]
  /** Image pixels per CSS pixel, if a client hint decided it. */
  readonly contentDpr: number | undefined
}

/** Current names of client hints, then the ones before. */
const DPR_HEADERS = ['sec-ch-dpr', 'dpr'] as const
const WIDTH_HEADERS = ['sec-ch-width', 'width'] as const
const SAVE_DATA_HEADER = 'save-data'
const MAX_DPR = 4

/**
 * Resolves `f_auto` by the request headers; the encoder writes the smallest of the accepted formats. A link without it means
 * the same for every client.
 * @param usesSizeHints whether client hints may change the size
 */
export function negotiate(
  requested: Transformation,
  image: NegotiatedImage,
  headers: IncomingHttpHeaders,
  usesSizeHints: boolean,
): Negotiation {
  const { format, width, height, dpr, ratio } = requested
  if (format !== 'auto')
    return { transformation: { ...requested, format }, varies: [], contentDpr: undefined }
  const usesDpr = usesSizeHints && dpr === 1 && (width !== null || height !== null)
  const usesWidth = usesSizeHints && dpr === 1 && width === null && ratio === null
  const varies = [
    'accept',
    SAVE_DATA_HEADER,
    ...(usesDpr || usesWidth ? DPR_HEADERS : []),
    ...(usesWidth ? WIDTH_HEADERS : []),
  ]
  const hints = readHints(headers)
  const transformation = withClient({ ...requested, format: null }, image, headers.accept, hints.saveData)
  // The hint is in physical pixels already.
  if (usesWidth && hints.width !== undefined)
    return { transformation: { ...transformation, width: hints.width }, varies, contentDpr: hints.dpr }
  if (!usesDpr || hints.dpr === undefined || hints.saveData)
    return { transformation, varies, contentDpr: undefined }
  const room = MAX_SIDE_PIXELS / Math.max(width ?? 1, height ?? 1)
  const hinted = Math.min(hints.dpr, Math.floor(room * 100) / 100)
  return { transformation: { ...transformation, dpr: hinted }, varies, contentDpr: hinted }
}

function withClient(
  transformation: ResolvedTransformation,
  image: NegotiatedImage,
  accept: string | undefined,
  saveData: boolean,
): ResolvedTransformation {
  const formats = acceptedFormats(transformation, image, accept)
  const light = saveData && transformation.quality === null
  // Then the original may be served, which costs nothing.
  const acceptsOriginal = formats.every((format) => format === 'own' || format === 'png') && !light
  return acceptsOriginal && isIdentity(transformation)
    ? transformation
    : { ...transformation, client: { formats, light } }
}

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
    ['png', isAnimated ? 0 : weightOf(weights, 'image/png')],
    ['own', weightOf(weights, image.mime)],
  ]
  const best = Math.max(...candidates.map(([format, weight]) => (format === 'png' ? 0 : weight)))
  const accepted = candidates.filter(([, weight]) => weight > 0 && weight >= best).map(([format]) => format)
  if (!accepted.some((format) => format !== 'png')) return ['own', ...accepted]
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

/** Client hints. A malformed one counts as missing. */
function readHints(headers: IncomingHttpHeaders) {
  const dpr = readNumber(headers, DPR_HEADERS)
  const width = readNumber(headers, WIDTH_HEADERS)
  const saveData = String(headers[SAVE_DATA_HEADER] ?? '')
  return {
    saveData: saveData.trim().toLowerCase() === 'on',
    // Two decimals distinguish all existing screens.
    dpr: dpr === undefined ? undefined : Math.min(MAX_DPR, Math.max(1, Math.round(dpr * 100) / 100)),
    width: width === undefined ? undefined : Math.min(MAX_SIDE_PIXELS, Math.max(1, Math.ceil(width))),
  }
}

/** The number in the first of these headers that is present. */
function readNumber(headers: IncomingHttpHeaders, names: readonly string[]): number | undefined {
  const name = names.find((one) => headers[one] !== undefined)
  const text = name === undefined ? '' : String(headers[name])
  if (!/^\s*\d{1,5}(?:\.\d{1,6})?\s*$/.test(text)) return undefined
  const number = Number(text)
  return number > 0 ? number : undefined
}
