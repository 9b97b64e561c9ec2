import sharp, { type Sharp } from 'sharp'
import { isIdentity } from '../modifiers/canonical.ts'
import { emptyPlan, type OutputFormat, type SettledPlan } from '../modifiers/plan.ts'
import { strip } from '../strip/index.ts'
import { encode, outputFormat, outputMime, ownFormat } from './encode.ts'
import type { Size } from './geometry.ts'
import { mimeOf } from './kind.ts'
import type { Source } from './source.ts'

export interface Encoded {
  readonly bytes: Buffer
  readonly mime: string
}

/** A palette holds so many colours. */
const PALETTE = 256
/** More shades of gray, and nothing else, are a photograph. */
const GRAYS = 32
/** Larger PNGs are written once: trying filters needs all pixels at hand, and twice the time. */
export const MAX_PNG_PIXELS = 4_000_000
/** VP8L follows the header, or the chunks for profile and the like. */
const WEBP_HEAD = 64
/** Larger animations are written once. */
const MAX_LOSSLESS_MOTION_PIXELS = 2_000_000
/** Pixels past which lossless WebP is searched less deeply: three times as fast for some percent more bytes. */
const MAX_DEEP_PIXELS = 1_000_000
/** Without loss is better while it takes no more than this times the bytes. */
const LOSSLESS_WORTH = 1.25

const least = (found: readonly Encoded[]): Encoded | undefined =>
  found.reduce<Encoded | undefined>(
    (best, one) => (best === undefined || one.bytes.length < best.bytes.length ? one : best),
    undefined,
  )

/** The smaller of a PNG with filters and one without; photographs want them, graphics seldom. */
export async function smallestPng(open: () => Sharp, pixels: number): Promise<Buffer> {
  const plain = await open().png().toBuffer()
  if (pixels > MAX_PNG_PIXELS) return plain
  const filtered = await open().png({ adaptiveFiltering: true }).toBuffer()
  return filtered.length < plain.length ? filtered : plain
}

/** The smallest still image of what the client takes. @param open the finished picture, from its beginning each time */
export async function smallestStill(
  open: () => Sharp,
  source: Source,
  plan: SettledPlan,
  size: Size,
): Promise<Encoded> {
  const welcome = new Set(plan.client?.formats)
  const own = ownFormat(source)
  const pixels = size.width * size.height
  const isExact = isDrawn(source) && typeof plan.quality !== 'number'
  const exact = [...unchanged(source, plan, size)]
  const fewColours = isExact && (await hasFewColours(open))
  if (isExact) {
    if (welcome.has('webp') || (welcome.has('own') && own === 'webp')) {
      const effort = pixels > MAX_DEEP_PIXELS ? 2 : 4
      exact.push(webp(await open().webp({ lossless: true, effort }).toBuffer()))
    }
    if (welcome.has('png') || (welcome.has('own') && own === 'png')) {
      exact.push(png(await smallestPng(open, pixels)))
      if (fewColours) exact.push(...(await exactPalette(open)).map(png))
    }
  }
  const lossy: Encoded[] = []
  if (!fewColours || exact.length === 0) {
    const formats = new Set<OutputFormat>()
    for (const format of ['webp', 'avif'] as const) if (welcome.has(format)) formats.add(format)
    if (welcome.has('own') && (exact.length === 0 || !isExact || own === 'jpg')) formats.add(own)
    for (const format of formats) {
      const bytes = await encode(open(), format, plan, false, pixels).toBuffer()
      lossy.push({ bytes, mime: outputMime[format] })
    }
  }
  return better(exact, lossy, isExact)
}

/** The same of an animation. */
export async function smallestMotion(
  image: Sharp,
  source: Source,
  plan: SettledPlan,
  size: Size,
): Promise<Encoded> {
  const format = outputFormat(plan, source)
  const pixels = size.width * size.height
  const exact = [...unchanged(source, plan, size)]
  if (format === 'webp' && isDrawn(source) && pixels * source.frames <= MAX_LOSSLESS_MOTION_PIXELS)
    exact.push(webp(await image.clone().webp({ lossless: true }).toBuffer()))
  const bytes = await encode(image.clone(), format, plan, true, pixels).toBuffer()
  return better(exact, [{ bytes, mime: outputMime[format] }], isDrawn(source))
}

const webp = (bytes: Buffer): Encoded => ({ bytes, mime: outputMime.webp })
const png = (bytes: Buffer): Encoded => ({ bytes, mime: outputMime.png })

function better(exact: readonly Encoded[], lossy: readonly Encoded[], isGraphic: boolean): Encoded {
  const [whole, light] = [least(exact), least(lossy)]
  const found = whole ?? light
  if (found === undefined) throw new Error('no format is welcome')
  if (whole === undefined || light === undefined) return found
  return whole.bytes.length <= light.bytes.length * (isGraphic ? LOSSLESS_WORTH : 1) ? whole : light
}

/** Whether the original keeps every pixel: then what is made of it can, too. */
function isDrawn({ kind, bytes }: Source): boolean {
  if (kind === 'webp') return bytes.subarray(0, WEBP_HEAD).includes('VP8L')
  return kind === 'png' || kind === 'gif' || kind === 'svg' || kind === 'tiff'
}

/** The original without its metadata, where the plan leaves all its pixels as they are and the client takes its kind. */
function unchanged(source: Source, plan: SettledPlan, size: Size): Encoded[] {
  const { kind, metadata, width, height, bytes } = source
  const { fit, dpr, enlarge, ratio, gravity, quality, client } = emptyPlan
  const sized = { width: null, height: null, fit, dpr, enlarge, ratio, gravity, quality, client }
  const isShown = kind !== 'tiff' && metadata.space !== 'cmyk' && (metadata.orientation ?? 1) === 1
  const isSame = size.width === width && size.height === height && isIdentity({ ...plan, ...sized })
  if (plan.client?.formats.includes('own') !== true || !isShown || !isSame) return []
  const stripped = strip(bytes)
  return stripped === undefined ? [] : [{ bytes: stripped, mime: mimeOf[kind] }]
}

const rawOf = (image: Sharp): Promise<Buffer> => image.toColourspace('srgb').ensureAlpha().raw().toBuffer()

async function hasFewColours(open: () => Sharp): Promise<boolean> {
  const data = await rawOf(open())
  const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length >> 2)
  const colours = new Set<number>()
  let most = GRAYS
  for (const pixel of pixels) {
    // Of gray photographs no pixel has a colour, and so there are never more than 256.
    if ((pixel & 0xff) !== ((pixel >> 8) & 0xff) || (pixel & 0xff) !== ((pixel >> 16) & 0xff)) most = PALETTE
    colours.add(pixel)
    if (colours.size > PALETTE) return false
  }
  return colours.size <= most
}

/** A PNG with a palette; none where a colour was changed on the way. */
async function exactPalette(open: () => Sharp): Promise<Buffer[]> {
  const bytes = await open().png({ palette: true, quality: 100, dither: 0, effort: 10 }).toBuffer()
  return (await rawOf(sharp(bytes))).equals(await rawOf(open())) ? [bytes] : []
}
