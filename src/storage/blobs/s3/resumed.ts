import { Readable } from 'node:stream'
import type { BlobStore } from '../blob-store.ts'
import { isPassing } from './faults.ts'

/** How often one stream may break and be taken up again. */
const MAX_BREAKS = 8

/**
 * The same store, whose streams go on where they broke off: by then the client has been promised the whole of it, and no
 * error can be told any more. Blobs never change under their key, so the rest fits what was sent.
 */
export function resuming(store: BlobStore): BlobStore {
  return {
    ...store,
    async stream(key, start, end) {
      const body = await store.stream(key, start, end)
      return body === undefined || end < start
        ? body
        : resumed(body, start, end, (at) => store.stream(key, at, end))
    },
  }
}

function resumed(
  first: Readable,
  start: number,
  end: number,
  open: (at: number) => Promise<Readable | undefined>,
): Readable {
  let body = first
  let at = start

  async function* chunks(): AsyncGenerator<Buffer> {
    for (let breaks = 0; ; breaks++) {
      try {
        for await (const chunk of body) {
          at += chunk.byteLength
          yield chunk
        }
        return
      } catch (error) {
        // Broken by its reader, or after its last byte.
        if (whole.destroyed || at > end) return
        if (breaks === MAX_BREAKS || !isPassing(error)) throw error
        const rest = await open(at)
        if (rest === undefined) throw error
        body = rest
        if (whole.destroyed) rest.destroy()
      }
    }
  }

  const whole = Readable.from(chunks(), { objectMode: false, highWaterMark: first.readableHighWaterMark })
  // A generator that waits for a chunk hears of nothing else.
  whole.once('close', () => body.destroy())
  return whole
}
