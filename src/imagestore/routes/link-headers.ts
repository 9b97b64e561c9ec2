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

/** Of a 304. */
export const knownHeaders = (etag: string) => ({ ...SAFE_HEADERS, etag })

/** @param size bytes of the body */
export const wholeHeaders = (etag: string, mime: string, size: number) => ({
  ...SAFE_HEADERS,
  etag,
  'content-length': String(size),
  'content-type': mime,
})
