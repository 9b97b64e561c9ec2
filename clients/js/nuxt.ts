import { isUnsigned, url, type Tokens } from './links.ts'

/** Modifiers of Nuxt Image, and tokens of links. */
export interface NuxtModifiers extends Tokens {
  readonly width?: number
  readonly height?: number
  readonly fit?: string
  readonly format?: string
  readonly quality?: string | number
  readonly background?: string
}

const FITS: Readonly<Record<string, string>> = {
  cover: 'fill',
  contain: 'pad',
  fill: 'scale',
  inside: 'fit',
  outside: 'fill',
}

/** Returns the link of an image: `src` is a hash, an `alias()` or a link. Signed links and anything else stay as they are. */
export function getImage(
  src: string,
  { modifiers = {}, baseURL = '' }: { readonly modifiers?: NuxtModifiers; readonly baseURL?: string },
): { readonly url: string } {
  if (!isUnsigned(src)) return { url: src }
  const { width, height, fit, format, quality, background, ...tokens } = modifiers
  const own: Tokens = {
    w: width,
    h: height,
    c: fit && (FITS[fit] ?? fit),
    f: format ?? 'auto',
    q: quality,
    bg: background?.replace('#', ''),
  }
  return { url: url(baseURL, src, { ...own, ...tokens }) }
}

/** The provider of Nuxt Image 2. */
export default (): { readonly getImage: typeof getImage } => ({ getImage })
