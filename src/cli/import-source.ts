import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { SourceFault } from '../domainwatch/index.ts'

/** Compressed bytes unpacked at a time: they may become a thousand times as many. */
const MAX_PACKED = 4_096

/**
 * The bytes of a file, or of standard input, unpacked where they are compressed.
 * @param read told how many bytes were read, as they stand in the file
 * @throws SourceFault in the midst, where it cannot be read on
 */
export async function* bytesOf(
  file: string | undefined,
  read: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of file === undefined ? process.stdin : createReadStream(file)) {
      read(chunk.byteLength)
      yield chunk
    }
  }
  try {
    yield* unzipped(counted())
  } catch (error) {
    throw new SourceFault(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Told by its first two bytes, whatever it is called (RFC 1952). */
async function* unzipped(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next()
  if (first.done === true) return
  async function* whole() {
    yield first.value
    yield* source
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole()
  yield* gunzipped(whole())
}

/** All that comes before the place where it is cut off or damaged. Bytes behind a whole file that are none are left out. */
async function* gunzipped(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  const unpacked: Buffer[] = []
  // What a stream holds when it fails is lost, so it holds nothing.
  gunzip.on('data', (piece: Buffer) => unpacked.push(piece))
  const ended = finished(gunzip, { writable: false })
  // Seen by whoever waits for it next.
  ended.catch(() => {})
  try {
    for await (const chunk of source) {
      for (let from = 0; from < chunk.length && !gunzip.readableEnded; from += MAX_PACKED) {
        const taken = Promise.withResolvers<void>()
        gunzip.write(chunk.subarray(from, from + MAX_PACKED), () => taken.resolve())
        // Of bytes behind its end it never says that it took them.
        const fault = await Promise.race([taken.promise, ended]).then(noFault, asError)
        yield* unpacked.splice(0)
        if (fault !== undefined) throw fault
      }
    }
    gunzip.end()
    await ended
    yield* unpacked
  } finally {
    gunzip.destroy()
  }
}

const noFault = () => undefined
const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))
