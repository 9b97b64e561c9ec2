import sharp, { type Sharp } from 'sharp'
import { isIdentity } from '../links/modifiers/canonical.ts'
import { emptyPlan, type OutputFormat, type SettledPlan } from '../links/modifiers/plan.ts'
import { strip } from '../metadata-stripping/index.ts'
import { AVIF_WORTH_PIXELS, encode, outputFormat, outputMime, ownFormat } from './encode.ts'
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
/** Of the strip that decides on filters. */
const SAMPLE_PIXELS = 250_000
/** A PNG that has more times the bytes of lossy WebP is of a photograph: there lossless WebP takes seconds, and for nothing. */
const PHOTOGRAPH = 4
/** Larger images are written in one format: each takes seconds. */
const MAX_TRIED_PIXELS = 8_000_000
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

/**
 * A PNG with filters where they make it smaller: photographs want them, graphics seldom. Of a large one a strip from the middle decides, so
 * that it is written once.
 */
export async function smallestPng(open: () => Sharp, { width, height }: Size): Promise<Buffer> {
  const rows = Math.max(1, Math.floor(SAMPLE_PIXELS / width))
  const isWhole = rows >= height
  const strip = { left: 0, top: Math.floor((height - rows) / 2), width, height: rows }
  const sample = () => (isWhole ? open() : open().extract(strip))
  const plain = await sample().png().toBuffer()
  const filtered = await sample().png({ adaptiveFiltering: true }).toBuffer()
  const adaptiveFiltering = filtered.length < plain.length
  if (!isWhole) return open().png({ adaptiveFiltering }).toBuffer()
  return adaptiveFiltering ? filtered : plain
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
  if (pixels > MAX_TRIED_PIXELS) {
    const format = outputFormat(plan, source)
    const bytes = await encode(open(), format, plan, false, pixels).toBuffer()
    return better(exact, [{ bytes, mime: outputMime[format] }], isExact)
  }
  const fewColours = isExact && (await hasFewColours(open))
  const write = async (format: OutputFormat): Promise<Encoded> => ({
    bytes: await encode(open(), format, plan, false, pixels).toBuffer(),
    mime: outputMime[format],
  })
  const takesWebp = welcome.has('webp') || (welcome.has('own') && own === 'webp')
  const lossy: Encoded[] = []
  if (takesWebp && !fewColours) lossy.push(await write('webp'))
  if (isExact) {
    const written = png(await smallestPng(open, size))
    if (welcome.has('png') || (welcome.has('own') && own === 'png')) {
      exact.push(written)
      if (fewColours) exact.push(...(await exactPalette(open)).map(png))
    }
    const isPhotograph = lossy.some(({ bytes }) => written.bytes.length > bytes.length * PHOTOGRAPH)
    if (takesWebp && !isPhotograph) {
      const effort = pixels > MAX_DEEP_PIXELS ? 2 : 4
      exact.push(webp(await open().webp({ lossless: true, effort }).toBuffer()))
    }
  }
  if (!fewColours || exact.length === 0) {
    if (welcome.has('avif') && (pixels <= AVIF_WORTH_PIXELS || !takesWebp)) lossy.push(await write('avif'))
    const isOwnLeft = own !== 'webp' && (exact.length === 0 || !isExact || own === 'jpg')
    if (welcome.has('own') && isOwnLeft) lossy.push(await write(own))
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
