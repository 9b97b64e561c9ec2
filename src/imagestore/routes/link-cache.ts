import type { IncomingHttpHeaders } from 'node:http'
import { matches } from '../../http/headers.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Delivery } from '../delivery.ts'
import type { ImageDefinitions, ImageSettings } from '../definitions.ts'
import type { ImageHash } from '../image-fields.ts'
import { toLinkId, type Alias } from '../links/link.ts'
import type { ResolvedLink } from '../links/resolve-link.ts'
import { mimeOf } from '../../lib/image-metadata/index.ts'

type Headers = Readonly<Record<string, string>>

const YEAR_SECONDS = 31_536_000
/** For links whose meaning can change: caches revalidate them by their `ETag`. */
const DAY_SECONDS = 86_400
const ALIAS_SECONDS = 60

/** A stored SVG may contain script: these headers keep browsers from running it, and from sniffing another type. */
const SAFE_HEADERS = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
}

/**
 * Returns the headers of all responses to a link but errors. The bytes of a hash never change, so caches may keep
 * them indefinitely, unless the link expires or its meaning can change. `Cache-Tag` lets a cache purge all links
 * to an image. A negotiated response is for private caches only by default: many
 * CDNs ignore `Vary`, and would serve AVIF to all clients because the first one accepted it.
 * @param image as the link names it
 * @param now milliseconds since 1970
 * @param sharesVariants whether all shared caches are known to respect `Vary`
 */
export function linkHeaders(
  image: ImageHash | Alias,
  hash: string,
  { varies, isFixed, expires }: Extract<ResolvedLink, { kind: 'image' }>,
  now: number,
  sharesVariants: boolean,
): Headers {
  const left = expires === undefined ? Infinity : Math.max(0, expires - Math.ceil(now / 1_000))
  const isAlias = typeof image !== 'string'
  const lifetime = isFixed ? YEAR_SECONDS : isAlias ? ALIAS_SECONDS : DAY_SECONDS
  const seconds = Math.min(lifetime, left)
  const maxAge = `max-age=${seconds}${isFixed && expires === undefined ? ', immutable' : ''}`
  const scope = varies.length === 0 || sharesVariants ? 'public' : 'private'
  return {
    'cache-control': `${scope}, ${maxAge}`,
    ...SAFE_HEADERS,
    'accept-ranges': 'bytes',
    'cache-tag': isAlias ? `${hash},${toLinkId(image)}` : hash,
    ...(varies.length === 0 ? {} : { vary: varies.join(', ') }),
  }
}

/** Which caches may keep a response with these headers. */
export const cacheScope = (common: Headers): string =>
  common['cache-control']?.startsWith('private') === true ? 'private' : 'public'

/** Other types in a database that was edited by hand are not sent: a link must not serve a web page. */
const IMAGE_MIMES: ReadonlySet<string> = new Set(Object.values(mimeOf))

/** Extensions of files that are not the second part of their type. */
const EXTENSIONS: Readonly<Record<string, string>> = { jpeg: 'jpg', 'svg+xml': 'svg' }

/**
 * Headers of a 200 or 206.
 * @param length bytes of the body
 * @param download name of the file that browsers save, without extension; null to show the image
 */
export function contentHeaders(
  common: Headers,
  etag: string,
  mime: string,
  length: number,
  download: string | null,
): Headers {
  const isImage = IMAGE_MIMES.has(mime)
  const [, subtype = ''] = isImage ? mime.split('/') : []
  const file = `${download}.${EXTENSIONS[subtype] ?? subtype}`
  return {
    ...common,
    etag,
    'content-length': String(length),
    'content-type': isImage ? mime : 'application/octet-stream',
    ...(download === null ? {} : { 'content-disposition': `attachment; filename="${file}"` }),
  }
}

/** Cached links, less than a kilobyte each. */
const MAX_LINKS = 20_000
const MAX_KEY_LENGTH = 512

export interface CacheableLink {
  readonly hash: ImageHash
  /** State of the image: the link is resolved again when it changes. */
  readonly state: string
  /** The link is resolved again when a preset or a watermark changes. */
  readonly settings: ImageSettings
  /** What the bytes are called in the memory cache. */
  readonly key: string
  readonly etag: string
  /** Name of the file that browsers save, without extension; null to show the image. */
  readonly download: string | null
  readonly common: Headers
}

export interface CachedResponse {
  readonly status: 200 | 304
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Uint8Array | undefined
}

interface Entry extends CacheableLink {
  /** The version of all image rows at which `state` was last found unchanged. */
  checkedVersion: number
  /** Headers of a 304. */
  readonly notModified: readonly string[]
  /** Headers of a 200 with `length` bytes. */
  headers: readonly string[]
  length: number
}

/**
 * Caches what links resolved to. What a link means, and whether it may be served, cannot change while its image is in the same
 * state and presets and watermarks are the same, which is compared at each use.
 */
export function createLinkCache(delivery: Delivery, definitions: Pick<ImageDefinitions, 'peek'>) {
  /** By link; for one that resolves differently depending on request headers, their names, and entries by variant. */
  const entries = lruCache<Entry | readonly string[]>(MAX_LINKS)
  return { set, find }

  /** @param varies names of the request headers that had a say, in lower case */
  function set(
    link: string,
    varies: readonly string[],
    headers: IncomingHttpHeaders,
    resolved: CacheableLink,
  ): void {
    const variant = varies.length === 0 ? link : variantKey(link, varies, headers)
    if (variant.length > MAX_KEY_LENGTH) return
    if (varies.length > 0) entries.set(link, varies)
    const known = entries.get(variant)
    if (isEntry(known) && known.state === resolved.state && known.settings === resolved.settings) return
    entries.set(variant, {
      ...resolved,
      checkedVersion: NaN,
      notModified: Object.entries({ ...resolved.common, etag: resolved.etag }).flat(),
      headers: [],
      length: -1,
    })
  }

  /** The response, if it needs no wait; undefined for range requests, too. */
  function find(link: string, headers: IncomingHttpHeaders): CachedResponse | undefined {
    const known = entries.get(link)
    const isVaried = known !== undefined && !isEntry(known)
    const entry = isVaried ? entries.get(variantKey(link, known, headers)) : known
    if (!isEntry(entry) || !isCurrent(entry)) return undefined
    const { key, etag, common, notModified, download } = entry
    if (matches(headers['if-none-match'], etag)) return { status: 304, headers: notModified, body: undefined }
    if (headers.range !== undefined) return undefined
    const image = delivery.cached(key)
    if (image === undefined) return undefined
    const { bytes, mime } = image
    // Another process may have made it again, and an encoder need not produce the same bytes twice.
    if (entry.length !== bytes.byteLength) {
      entry.headers = Object.entries(contentHeaders(common, etag, mime, bytes.byteLength, download)).flat()
      entry.length = bytes.byteLength
    }
    return { status: 200, headers: entry.headers, body: bytes }
  }

  function isCurrent(entry: Entry): boolean {
    const { version } = delivery
    if (version === entry.checkedVersion) return true
    if (delivery.peekState(entry.hash) !== entry.state) return false
    if (definitions.peek() !== entry.settings) return false
    entry.checkedVersion = version
    return true
  }
}

const isEntry = (known: Entry | readonly string[] | undefined): known is Entry =>
  known !== undefined && 'checkedVersion' in known

function variantKey(link: string, names: readonly string[], headers: IncomingHttpHeaders): string {
  return `${link}\n${names.map((name) => headers[name] ?? '').join('\n')}`
}
