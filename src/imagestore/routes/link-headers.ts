/**
 * The bytes under a hash never change, so caches may keep them for good. A stored SVG may carry script: these
 * headers keep a browser from running it, or from taking an image for anything else.
 */
export const SAFE_HEADERS = {
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
  'accept-ranges': 'bytes',
}

/** Of an image that does not last for good: caches keep it no longer than it does. */
const kept = (lifetime: number | undefined) =>
  lifetime === undefined
    ? SAFE_HEADERS
    : { ...SAFE_HEADERS, 'cache-control': `public, max-age=${Math.min(lifetime, 31_536_000)}` }

/**
 * Of a 304.
 * @param lifetime seconds that are left of the image; undefined where there is no end
 */
export const knownHeaders = (etag: string, lifetime?: number) => ({ ...kept(lifetime), etag })

/** @param size bytes of the body */
export const wholeHeaders = (etag: string, mime: string, size: number, lifetime?: number) => ({
  ...kept(lifetime),
  etag,
  'content-length': String(size),
  'content-type': mime,
})
