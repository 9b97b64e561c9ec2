import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { ReadyAnswer } from '../../http/at-once.ts'
import { matches } from '../../http/conditional.ts'
import type { Delivery } from '../delivery.ts'
import type { ImageHash } from '../hash.ts'
import { knownHeaders, wholeHeaders } from './link-headers.ts'

/** Links kept, less than a kilobyte each. */
const MAX_LINKS = 20_000
const MAX_LENGTH = 256

/** What a link was found to stand for. */
interface Meaning {
  readonly hash: ImageHash
  readonly blobKey: string
  /** Of the derivative; undefined for the original. */
  readonly name: string | undefined
  readonly etag: string
}

interface Ready extends Meaning {
  readonly known: readonly string[]
  /** Made when the bytes are first at hand. */
  whole: readonly string[] | undefined
}

/**
 * Links that were answered before. What one means never changes as long as its hash stands for the same blob, which is
 * looked at each time: a key never comes back.
 */
export class ReadyLinks {
  readonly #links = new LRUCache<string, Ready>({ max: MAX_LINKS })
  readonly #delivery: Delivery

  constructor(delivery: Delivery) {
    this.#delivery = delivery
  }

  note(link: string, meaning: Meaning): void {
    if (link.length > MAX_LENGTH || this.#links.get(link)?.blobKey === meaning.blobKey) return
    this.#links.set(link, { ...meaning, known: flat(knownHeaders(meaning.etag)), whole: undefined })
  }

  /** Undefined for whatever takes more than memory, and for ranges. */
  find(link: string, { headers }: IncomingMessage): ReadyAnswer | undefined {
    const ready = this.#links.get(link)
    if (ready === undefined || this.#delivery.known(ready.hash)?.key !== ready.blobKey) return undefined
    if (matches(headers['if-none-match'], ready.etag)) {
      return { status: 304, headers: ready.known, body: undefined }
    }
    if (headers.range !== undefined) return undefined
    const hot = this.#delivery.atHand(ready.blobKey, ready.name)
    if (hot === undefined) return undefined
    ready.whole ??= flat(wholeHeaders(ready.etag, hot.mime, hot.bytes.byteLength))
    return { status: 200, headers: ready.whole, body: hot.bytes }
  }
}

const flat = (headers: Readonly<Record<string, string>>): readonly string[] => Object.entries(headers).flat()
