import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { AnswerMemory } from '../../http/answer-memory.ts'
import type { ReadyAnswer } from '../../http/at-once.ts'
import { ReadyHead } from '../../http/ready-head.ts'
import { matches } from '../../http/conditional.ts'
import { keyOf, type Delivery } from '../delivery.ts'
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
  /** What the bytes are called in memory. */
  readonly key: string
  /** The version of what is known of images at which the state was last found to be the same. */
  seenAt: number
  /** Made when the bytes are first at hand; of so many bytes. */
  whole: ReadyHead | undefined
  bytes: number
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
    const key = varies.length === 0 ? link : variantOf(link, varies, headers)
    if (key.length > MAX_LENGTH) return
    if (varies.length > 0) this.#links.set(link, { kind: 'varying', headers: varies })
    const noted = this.#links.get(key)
    if (noted?.kind === 'ready' && noted.state === meaning.state) return
    const known = new ReadyHead(304, knownHeaders(meaning.common, meaning.etag))
    const { blob, name } = meaning
    this.#links.set(key, {
      kind: 'ready',
      ...meaning,
      known,
      key: keyOf(blob.key, name),
      seenAt: NaN,
      whole: undefined,
      bytes: 0,
    })
  }

  /**
   * Undefined for whatever has to be waited for, and for ranges.
   * @param memory for bytes that nobody keeps
   */
  find(
    link: string,
    { headers }: IncomingMessage,
    memory: AnswerMemory | undefined,
  ): ReadyAnswer | undefined {
    const noted = this.#links.get(link)
    const ready = noted?.kind === 'varying' ? this.#links.get(variantOf(link, noted.headers, headers)) : noted
    if (ready?.kind !== 'ready' || !this.#isStill(ready)) return undefined
    if (matches(headers['if-none-match'], ready.etag)) return { head: ready.known, body: undefined }
    if (headers.range !== undefined) return undefined
    const { blob, name, key } = ready
    const hot =
      name === undefined
        ? this.#delivery.originalAtOnce(blob, memory)
        : this.#delivery.derivativeAtOnce(blob.key, name, key, memory)
    if (hot === undefined) return undefined
    const { bytes, mime, lent } = hot
    // Another process may have made it anew, and an encoder need not come to the same bytes twice.
    if (ready.whole === undefined || ready.bytes !== bytes.byteLength) {
      ready.whole = new ReadyHead(200, wholeHeaders(ready.common, ready.etag, mime, bytes.byteLength))
      ready.bytes = bytes.byteLength
    }
    return { head: ready.whole, body: bytes, lent }
  }

  /** Whether the link still means the same, and may be asked for. */
  #isStill(ready: Ready): boolean {
    const { images } = this.#delivery
    const { version } = images
    if (version === ready.seenAt) return true
    if (images.peek(ready.hash)?.state !== ready.state) return false
    ready.seenAt = version
    return true
  }
}

function variantOf(link: string, names: readonly string[], headers: IncomingHttpHeaders): string {
  return `${link}\n${names.map((name) => headers[name] ?? '').join('\n')}`
}
