import type { IncomingHttpHeaders } from 'node:http'
import {
  isIdentity,
  type AcceptedFormat,
  type ResolvedTransformation,
  type Transformation,
  canonical,
  modifiers,
  type Gravity,
  type ModifierFault,
} from '../modifiers/index.ts'
import { staysAnimated, areaOf } from '../decoder/output.ts'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Client } from '../../lib/client.ts'
import type { Clock } from '../../lib/clock.ts'
import { VERSION } from '../../lib/version.ts'
import type { Size } from '../decoder/stage.ts'
import type { Recipe, KnownImage, Delivery } from '../delivery.ts'
import type { BlobRow } from '../image-fields.ts'
import type { ImageDefinitions, ImageSettings, Watermark } from '../definitions.ts'
import { authorizeLink, roundToSteps, type LinkAccess, parseLink, type LinkTarget } from './link.ts'

/**
 * Resolves `f_auto` by the header `Accept`; the encoder writes the smallest of the accepted formats. A link without it means the
 * same for every client.
 */
function negotiate(
  requested: Transformation,
  image: BlobRow,
  { accept }: IncomingHttpHeaders,
): { readonly transformation: ResolvedTransformation; readonly varies: readonly string[] } {
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
  image: BlobRow,
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

/** What a link resolves to. */
export type ResolvedLink =
  | {
      readonly kind: 'image'
      /** Undefined for the original. */
      readonly recipe: Recipe | undefined
      /** Request headers that the answer depends on, in lower case. */
      readonly varies: readonly string[]
      /** Whether the link always means the same: presets, watermarks and `g_auto` can be redefined. */
      readonly isFixed: boolean
      /** Seconds since 1970. */
      readonly expires: number | undefined
      /** Name of the file, without extension, as which browsers save the image; null to show it. */
      readonly download: string | null
      /** The presets and watermarks that it was resolved with. */
      readonly settings: ImageSettings
    }
  | { readonly kind: 'fault'; readonly fault: ModifierFault }
  /** No image can be made with the link's extension. */
  | { readonly kind: 'no-format' }
  /** No application holds both the image and the watermark. */
  | { readonly kind: 'no-watermark'; readonly name: string }
  | Exclude<LinkAccess, { kind: 'granted' }>

/** Resolves a link: what it asks for, and whether that is allowed. @param client whose turn reads from the database use */
export type ResolveLink = (
  target: LinkTarget,
  image: KnownImage,
  headers: IncomingHttpHeaders,
  client: Client,
  /** `trusted`: the application asks for it itself, which needs no signature. */
  asker?: 'anyone' | 'trusted',
) => Promise<ResolvedLink>

export function linkResolver(
  definitions: Pick<ImageDefinitions, 'current'>,
  delivery: Pick<Delivery, 'find'>,
  clock: Clock,
): ResolveLink {
  return async (target, image, headers, client, asker = 'anyone') => {
    const { blob, holders } = image
    const settings = await definitions.current(client)
    const parsed = parseLink(target, blob.format, settings)
    if (parsed === undefined) return { kind: 'no-format' }
    if (!parsed.ok) return { kind: 'fault', fault: parsed.fault }
    const allowed = authorizeLink(target.image, parsed, holders, clock.now())
    const isTrusted = asker === 'trusted' && allowed.kind === 'unsigned'
    const access: LinkAccess = isTrusted ? { kind: 'granted', sizes: 'exact' } : allowed
    if (access.kind !== 'granted') return access
    const outside = areaFault(parsed.transformation, blob)
    if (outside !== undefined) return { kind: 'fault', fault: outside }
    const { transformation: wanted, expires, preset } = parsed
    const { download } = wanted
    const isAuto = wanted.gravity.kind === 'auto'
    const gravity: Gravity =
      isAuto && image.focus !== undefined
        ? { kind: 'point', ...turned(withinArea(image.focus, wanted, blob), wanted) }
        : wanted.gravity
    // The name of a download changes no byte: one derivative serves all.
    const requested = { ...wanted, gravity, download: null }
    const { transformation: exact, varies } = negotiate(requested, blob, headers)
    const transformation = access.sizes === 'stepped' ? roundToSteps(exact) : exact
    const isAlias = typeof target.image !== 'string'
    const isFixed = preset === undefined && transformation.watermark === null && !isAuto && !isAlias
    if (isIdentity(transformation))
      return { kind: 'image', recipe: undefined, varies, isFixed, expires, download, settings }
    const recipe = await recipeFor(image, transformation, settings.watermarks, client)
    if (recipe === undefined) return { kind: 'no-watermark', name: transformation.watermark ?? '' }
    return { kind: 'image', recipe, varies, isFixed, expires, download, settings }
  }

  async function recipeFor(
    { holders }: KnownImage,
    transformation: ResolvedTransformation,
    watermarks: ImageSettings['watermarks'],
    client: Client,
  ): Promise<Recipe | undefined> {
    const { watermark } = transformation
    if (watermark === null)
      return { transformation, mark: undefined, name: derivativeName(transformation, undefined) }
    const place = watermarks.get(watermark)
    const mark = place && (await delivery.find(place.image, client))
    const isOwn = ({ account_id }: (typeof holders)[number]) =>
      mark?.holders.some((holder) => holder.account_id === account_id) === true
    if (place === undefined || mark === undefined || !holders.some(isOwn)) return undefined
    return { transformation, mark: { blob: mark.blob, place }, name: derivativeName(transformation, place) }
  }
}

type Point = NonNullable<KnownImage['focus']>

const toShare = (share: number) => Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 1_000

/** Where a point of an image is in the part that is cut out of it; on its edge if it is outside. */
function withinArea(point: Point, transformation: Transformation, image: Size): Point {
  const area = areaOf(transformation, image)
  if (area === undefined) return point
  return {
    x: toShare((point.x * image.width - area.left) / area.width),
    y: toShare((point.y * image.height - area.top) / area.height),
  }
}

/** Where a point of an image is after `r_`, `flip` and `flop`, which come before the crop. */
function turned({ x, y }: Point, { rotate, flip, flop }: Transformation): Point {
  const rest = (share: number) => toShare(1 - share)
  const rotations = {
    0: { x, y },
    90: { x: rest(y), y: x },
    180: { x: rest(x), y: rest(y) },
    270: { x: y, y: rest(x) },
  }
  const point = rotations[rotate]
  return { x: flop ? rest(point.x) : point.x, y: flip ? rest(point.y) : point.y }
}

/** The fault of a link to a part that lies outside of its image. */
function areaFault(transformation: Transformation, image: Size): ModifierFault | undefined {
  const { rect, rel } = transformation
  if (areaOf(transformation, image) !== undefined) return undefined
  const isRect = areaOf({ rect, rel: null }, image) === undefined
  const token = isRect ? modifiers.rect.format(rect) : modifiers.rel.format(rel)
  return { kind: 'range', token, takes: 'una parte que esté dentro de la imagen' }
}

/** Read from its file, because loading sharp would take tens of megabytes that only the decoders need. */
const SHARP_PACKAGE = readFileSync(new URL('../package.json', import.meta.resolve('sharp')), 'utf8')

/**
 * A digest of the versions of this program and of sharp. A program that may render differently never finds what another one
 * rendered.
 */
const RENDERER = hash('sha256', `${VERSION} ${SHARP_PACKAGE}`)

/** The name of the derivative that this program renders for `plan`: 32 hexadecimal digits. */
function derivativeName(plan: ResolvedTransformation, watermark: Watermark | undefined): string {
  const suffix = watermark === undefined ? '' : ` ${JSON.stringify(watermark)}`
  return hash('sha256', `${RENDERER} ${canonical(plan)}${suffix}`).slice(0, 32)
}
