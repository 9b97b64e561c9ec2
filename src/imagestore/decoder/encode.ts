import sharp, { type Sharp } from 'sharp'
import { mimeOf, stripMetadata } from '../../lib/image-metadata/index.ts'
import { isIdentity, UNCHANGED, type OutputFormat, type ResolvedTransformation } from '../modifiers/index.ts'
import { encodeToTarget, toSample } from './auto-quality.ts'
import { outputFormat, outputMime, ownFormat } from './output.ts'
import type { Rendered } from './decoder-process.ts'
import type { Source } from './source.ts'
import type { Size } from './stage.ts'

/** WebP and AVIF of these qualities have the same SSIMULACRA2 score in the mean of photographs (76 to 78), JPEG 79. */
const DEFAULT_QUALITY = { jpg: 80, webp: 80, avif: 60 } as const
/**
 * With effort 1, a photograph takes 1.7 times as long to make in AVIF as in WebP in the mean, and has 80 percent of the bytes at the same
 * score. Larger outputs have effort 0, which takes less time than WebP, and 90 percent.
 */
const MAX_AVIF_EFFORT_PIXELS = 2_000_000
/** From this quality on JPEG and AVIF do not subsample chroma, which costs a tenth of the bytes. */
const FULL_CHROMA_QUALITY = 90
const toChroma = (quality: number) => (quality < FULL_CHROMA_QUALITY ? '4:2:0' : '4:4:4')
/** Each frame gets its own palette. Measured: a seventh of the default effort's time for a fiftieth more bytes. */
const ANIMATED_GIF_EFFORT = 1

export const isPalettePng = ({ quality }: Pick<ResolvedTransformation, 'quality'>): boolean =>
  typeof quality === 'number' && quality < 100

/** Configures the encoder. @param pixels of the output */
export function encode(
  image: Sharp,
  format: OutputFormat,
  { quality }: Pick<ResolvedTransformation, 'quality'>,
  isAnimated: boolean,
  pixels: number,
): Sharp {
  const chosen = typeof quality === 'number' ? quality : undefined
  switch (format) {
    case 'jpg': {
      const jpg = chosen ?? DEFAULT_QUALITY.jpg
      return image.jpeg({ quality: jpg, progressive: true, chromaSubsampling: toChroma(jpg) })
    }
    case 'webp':
      return image.webp({ quality: chosen ?? DEFAULT_QUALITY.webp })
    case 'avif': {
      const avif = chosen ?? DEFAULT_QUALITY.avif
      return image.avif({
        quality: avif,
        chromaSubsampling: toChroma(avif),
        effort: pixels <= MAX_AVIF_EFFORT_PIXELS ? 1 : 0,
      })
    }
    case 'png':
      return image.png(isPalettePng({ quality }) ? { palette: true, quality: chosen } : {})
    case 'gif':
      return image.gif(isAnimated ? { effort: ANIMATED_GIF_EFFORT } : {})
  }
}

/** Encodes a finished still picture. `q_auto` finds the quality in which this one looks as good as others. */
export async function encodeStill(
  open: () => Sharp,
  format: OutputFormat,
  plan: ResolvedTransformation,
  size: Size,
): Promise<Buffer> {
  const pixels = size.width * size.height
  const write = (image: Sharp, quality: ResolvedTransformation['quality']) =>
    encode(image, format, { quality }, false, pixels).toBuffer()
  if (plan.quality !== 'auto' || format === 'png' || format === 'gif') return write(open(), plan.quality)
  return encodeToTarget(open, DEFAULT_QUALITY[format], size, write)
}

const MAX_PALETTE_COLOURS = 256
/** An image of more shades of gray, and no colours, is a photograph. */
const MAX_GRAPHIC_GRAYS = 32
const SAMPLE_PIXELS = 250_000
/** A PNG with more times the bytes of lossy WebP or JPEG is a photograph: lossless WebP would take seconds and not be smaller. */
const PHOTOGRAPH_RATIO = 4
/** Larger images are written in one format only, because each takes seconds. */
const MAX_COMPARED_PIXELS = 8_000_000
/** VP8L follows within this many bytes, after chunks such as the profile. */
const WEBP_HEAD_BYTES = 64
/** All frames together. Larger animations are written once. */
const MAX_LOSSLESS_ANIMATION_PIXELS = 2_000_000
/** Above this, lossless WebP gets less effort: three times as fast for a few percent more bytes. */
const MAX_FULL_EFFORT_PIXELS = 1_000_000
/** A lossless encoding of a graphic wins up to this many times the bytes of a lossy one. */
const LOSSLESS_PREFERENCE = 1.25

const asWebp = (bytes: Buffer): Rendered => ({ bytes, mime: outputMime.webp })
const asPng = (bytes: Buffer): Rendered => ({ bytes, mime: outputMime.png })

/** Encodes a PNG with filters if they make a sample smaller: they help photographs, rarely graphics. */
export async function smallestPng(open: () => Sharp, size: Size): Promise<Buffer> {
  const sample = toSample(open, size, SAMPLE_PIXELS)
  const plain = await sample().png().toBuffer()
  const filtered = await sample().png({ adaptiveFiltering: true }).toBuffer()
  const adaptiveFiltering = filtered.length < plain.length
  if (sample !== open) return open().png({ adaptiveFiltering }).toBuffer()
  return adaptiveFiltering ? filtered : plain
}

async function isPhotograph(open: () => Sharp, size: Size): Promise<boolean> {
  const sample = toSample(open, size, SAMPLE_PIXELS)
  const png = await sample().png({ adaptiveFiltering: true }).toBuffer()
  const jpeg = await sample().jpeg({ quality: DEFAULT_QUALITY.jpg }).toBuffer()
  return png.length > jpeg.length * PHOTOGRAPH_RATIO
}

/**
 * Encodes a still image in the formats that the client accepts and returns the smallest.
 * @param open returns the finished picture, once for each encoder
 */
export async function smallestStill(
  open: () => Sharp,
  source: Source,
  plan: ResolvedTransformation,
  size: Size,
): Promise<Rendered> {
  const accepted = new Set(plan.accepted)
  const own = ownFormat(source)
  const pixels = size.width * size.height
  const wantsLossless = isLossless(source) && typeof plan.quality !== 'number'
  const lossless = originalIfUnchanged(source, plan, size)
  const write = async (format: OutputFormat): Promise<Rendered> => ({
    bytes: await encodeStill(open, format, plan, size),
    mime: outputMime[format],
  })
  if (accepted.has('jpg') && (await isPhotograph(open, size)) && (await isOpaque(open))) return write('jpg')
  if (pixels > MAX_COMPARED_PIXELS)
    return chooseSmallest(lossless, [await write(outputFormat(plan, source))], wantsLossless)
  const fewColours = wantsLossless && (await hasFewColours(open))
  const acceptsWebp = accepted.has('webp') || (accepted.has('own') && own === 'webp')
  const lossy: Rendered[] = []
  if (acceptsWebp && !fewColours) lossy.push(await write('webp'))
  if (wantsLossless) {
    const png = asPng(await smallestPng(open, size))
    if (accepted.has('png') || (accepted.has('own') && own === 'png')) {
      lossless.push(png)
      if (fewColours) lossless.push(...(await exactPalette(open)).map(asPng))
    }
    const isPhotograph = lossy.some(({ bytes }) => png.bytes.length > bytes.length * PHOTOGRAPH_RATIO)
    if (acceptsWebp && !isPhotograph) {
      const effort = pixels > MAX_FULL_EFFORT_PIXELS ? 2 : 4
      lossless.push(asWebp(await open().webp({ lossless: true, effort }).toBuffer()))
    }
  }
  if (!fewColours || lossless.length === 0) {
    if (accepted.has('avif')) lossy.push(await write('avif'))
    const isOwnUntried = own !== 'webp' && (lossless.length === 0 || !wantsLossless || own === 'jpg')
    if (accepted.has('own') && isOwnUntried) lossy.push(await write(own))
  }
  return chooseSmallest(lossless, lossy, wantsLossless)
}

/** The same for an animation. */
export async function smallestAnimation(
  image: Sharp,
  source: Source,
  plan: ResolvedTransformation,
  size: Size,
): Promise<Rendered> {
  const format = outputFormat(plan, source)
  const pixels = size.width * size.height
  const lossless = originalIfUnchanged(source, plan, size)
  const isSmall = pixels * source.frames <= MAX_LOSSLESS_ANIMATION_PIXELS
  if (format === 'webp' && isLossless(source) && isSmall)
    lossless.push(asWebp(await image.clone().webp({ lossless: true }).toBuffer()))
  const bytes = await encode(image.clone(), format, plan, true, pixels).toBuffer()
  return chooseSmallest(lossless, [{ bytes, mime: outputMime[format] }], isLossless(source))
}

function chooseSmallest(
  lossless: readonly Rendered[],
  lossy: readonly Rendered[],
  isGraphic: boolean,
): Rendered {
  const [exact, light] = [smallestOf(lossless), smallestOf(lossy)]
  const found = exact ?? light
  if (found === undefined) throw new Error('the client accepts no format')
  if (exact === undefined || light === undefined) return found
  return exact.bytes.length <= light.bytes.length * (isGraphic ? LOSSLESS_PREFERENCE : 1) ? exact : light
}

const smallestOf = (encodings: readonly Rendered[]): Rendered | undefined =>
  encodings.toSorted((one, other) => one.bytes.length - other.bytes.length)[0]

const LOSSLESS_FORMATS: ReadonlySet<string> = new Set(['png', 'gif', 'svg', 'tiff', 'bmp'])
/** Formats that are always converted: few browsers show them. */
const CONVERTED_FORMATS: ReadonlySet<string> = new Set(['tiff', 'bmp', 'heic'])

/** True if the original is in a lossless format, so that a derivative can be lossless too. */
function isLossless({ format, bytes }: Source): boolean {
  if (format === 'webp') return bytes.subarray(0, WEBP_HEAD_BYTES).includes('VP8L')
  return LOSSLESS_FORMATS.has(format)
}

/** The original without metadata, if the plan leaves all its pixels as they are and the client accepts its format. */
function originalIfUnchanged(source: Source, plan: ResolvedTransformation, size: Size): Rendered[] {
  const { metadata, width, height, bytes } = source
  const { fit, dpr, enlarge, ratio, gravity, quality, accepted } = UNCHANGED
  const sized = { width: null, height: null, fit, dpr, enlarge, ratio, gravity, quality, accepted }
  const isDisplayable =
    !CONVERTED_FORMATS.has(source.format) && metadata.space !== 'cmyk' && (metadata.orientation ?? 1) === 1
  const isSame = size.width === width && size.height === height && isIdentity({ ...plan, ...sized })
  if (plan.accepted?.includes('own') !== true || !isDisplayable || !isSame) return []
  const stripped = stripMetadata(bytes)
  return stripped === undefined ? [] : [{ bytes: stripped, mime: mimeOf[source.format] }]
}

const rgbaOf = (image: Sharp): Promise<Buffer> => image.toColourspace('srgb').ensureAlpha().raw().toBuffer()

async function isOpaque(open: () => Sharp): Promise<boolean> {
  const data = await rgbaOf(open())
  for (let alpha = 3; alpha < data.length; alpha += 4) if (data[alpha] !== 255) return false
  return true
}

/** True if a palette can hold all colours, unless it is a gray photograph, which never has more than 256. */
async function hasFewColours(open: () => Sharp): Promise<boolean> {
  const data = await rgbaOf(open())
  const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length >> 2)
  const colours = new Set<number>()
  let max = MAX_GRAPHIC_GRAYS
  for (const pixel of pixels) {
    const red = pixel & 0xff
    if (red !== ((pixel >> 8) & 0xff) || red !== ((pixel >> 16) & 0xff)) max = MAX_PALETTE_COLOURS
    colours.add(pixel)
    if (colours.size > MAX_PALETTE_COLOURS) return false
  }
  return colours.size <= max
}

/** A PNG with a palette; none if the palette changed a colour. */
async function exactPalette(open: () => Sharp): Promise<Buffer[]> {
  const bytes = await open().png({ palette: true, quality: 100, dither: 0, effort: 10 }).toBuffer()
  return (await rgbaOf(sharp(bytes))).equals(await rgbaOf(open())) ? [bytes] : []
}
