import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { ReadyAnswer } from '../../http/at-once.ts'
import { ReadyHead } from '../../http/ready-head.ts'
import { matches } from '../../http/conditional.ts'
import type { Delivery } from '../delivery.ts'
import type { ImageHash } from '../hash.ts'
import type { BlobRow } from '../queries.ts'
import { knownHeaders, wholeHeaders } from './link-headers.ts'

/** Links kept, less than a kilobyte each. */
const MAX_LINKS = 20_000
const MAX_LENGTH = 512

/** What a link was found to stand for. */
interface Meaning {
  readonly hash: ImageHash
  /** Of the image: when it is another one, the meaning may be. */
  readonly state: string
  readonly blob: BlobRow
  /** Of the derivative; undefined for the original. */
  readonly name: string | undefined
  readonly etag: string
  /** Headers of every answer. */
  readonly common: Record<string, string>
}

interface Ready extends Meaning {
  readonly kind: 'ready'
  readonly known: ReadyHead
  /** Made when the bytes are first at hand. */
  whole: ReadyHead | undefined
}

/** What the link means is up to these headers of the request too. */
interface Varying {
  readonly kind: 'varying'
  readonly headers: readonly string[]
}

/**
 * Links that were answered before. What one means, and that it may be asked for, never changes as long as its image is in the
 * same state, which is looked at each time.
 */
export class ReadyLinks {
  readonly #links = new LRUCache<string, Ready | Varying>({ max: MAX_LINKS })
  readonly #delivery: Delivery

  constructor(delivery: Delivery) {
    this.#delivery = delivery
  }

  /** @param varies names of headers, in lower case */
  note(link: string, varies: readonly string[], headers: IncomingHttpHeaders, meaning: Meaning): void {
    const key = varies.length === 0 ? link : keyOf(link, varies, headers)
    if (key.length > MAX_LENGTH) return
    if (varies.length > 0) this.#links.set(link, { kind: 'varying', headers: varies })
    const noted = this.#links.get(key)
    if (noted?.kind === 'ready' && noted.state === meaning.state) return
    const known = new ReadyHead(304, knownHeaders(meaning.common, meaning.etag))
    this.#links.set(key, { kind: 'ready', ...meaning, known, whole: undefined })
  }

  /** Undefined for whatever has to be waited for, and for ranges. */
  find(link: string, { headers }: IncomingMessage): ReadyAnswer | undefined {
    const noted = this.#links.get(link)
    const ready = noted?.kind === 'varying' ? this.#links.get(keyOf(link, noted.headers, headers)) : noted
    if (ready?.kind !== 'ready' || this.#delivery.images.peek(ready.hash)?.state !== ready.state)
      return undefined
    if (matches(headers['if-none-match'], ready.etag)) return { head: ready.known, body: undefined }
    if (headers.range !== undefined) return undefined
    const { blob, name } = ready
    const hot =
      name === undefined ? this.#delivery.originalAtOnce(blob) : this.#delivery.atHand(blob.key, name)
    if (hot === undefined) return undefined
    ready.whole ??= new ReadyHead(200, wholeHeaders(ready.common, ready.etag, hot.mime, hot.bytes.byteLength))
    return { head: ready.whole, body: hot.bytes }
  }
}

function keyOf(link: string, names: readonly string[], headers: IncomingHttpHeaders): string {
  return `${link}\n${names.map((name) => headers[name] ?? '').join('\n')}`
}
