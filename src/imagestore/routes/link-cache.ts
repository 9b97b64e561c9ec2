import type { IncomingHttpHeaders } from 'node:http'
import { matches } from '../../http/headers.ts'
import { lruCache } from '../../lib/lru-cache.ts'
import type { Delivery } from '../delivery.ts'
import type { ImageDefinitions, ImageSettings } from '../definitions.ts'
import type { ImageHash } from '../image-fields.ts'
import { contentHeaders } from './link-responses.ts'

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
  readonly common: Readonly<Record<string, string>>
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
