import { mimeOf } from '../../lib/image-metadata/index.ts'
import type { Wanted } from '../link-reader.ts'

type Image = Extract<Wanted, { kind: 'image' }>

const YEAR = 31_536_000

/** A stored SVG may carry script: these keep a browser from running it, or from taking an image for anything else. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/**
 * Of every answer to a link but refusals. The bytes under a hash never change, so caches may keep them for good, unless the
 * link says until when.
 *
 * Where the request's headers decide too, by default only private caches may keep the answer: many a CDN ignores `Vary`, and would
 * give AVIF to all clients because the first one took it.
 * @param now milliseconds since 1970
 * @param sharesVariants whether all shared caches are known to respect `Vary`
 */
export function linkHeaders(
  { varies, contentDpr, expires }: Image,
  now: number,
  sharesVariants: boolean,
): Record<string, string> {
  const left = expires === undefined ? YEAR : Math.max(0, expires - Math.ceil(now / 1_000))
  const keep = expires === undefined ? `max-age=${YEAR}, immutable` : `max-age=${Math.min(YEAR, left)}`
  const scope = varies.length === 0 || sharesVariants ? 'public' : 'private'
  return {
    'cache-control': `${scope}, ${keep}`,
    ...SAFE_HEADERS,
    'accept-ranges': 'bytes',
    ...(varies.length === 0 ? {} : { vary: varies.join(', ') }),
    ...(contentDpr === undefined ? {} : { 'content-dpr': String(contentDpr) }),
  }
}

/** Which caches may keep an answer with these headers. */
export const scopeOf = (common: Record<string, string>): string =>
  common['cache-control']?.startsWith('private') === true ? 'private' : 'public'

/** Of a 304. */
export const knownHeaders = (common: Record<string, string>, etag: string) => ({ ...common, etag })

/** @param size bytes of the body */
/** A database that was edited by hand cannot make a link deliver a page. */
const IMAGE_MIMES: ReadonlySet<string> = new Set(Object.values(mimeOf))

export const wholeHeaders = (common: Record<string, string>, etag: string, mime: string, size: number) => ({
  ...common,
  etag,
  'content-length': String(size),
  'content-type': IMAGE_MIMES.has(mime) ? mime : 'application/octet-stream',
})
