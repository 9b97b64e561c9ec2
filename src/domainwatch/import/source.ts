import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { SourceFault } from './lines.ts'
import { asError } from '../../lib/errors.ts'

/** Compressed bytes processed at a time: they may expand a thousandfold. */
const MAX_COMPRESSED = 4_096

export interface SourceOptions {
  /** How often it may be compressed. */
  readonly layers?: 1 | 2
  /** Of the content of each layer: a large one may contain no bytes, but takes as long to read. */
  readonly maxBytes?: number | undefined
}

export class TooLargeFault extends SourceFault {}

/**
 * Reads a file, or standard input, and decompresses it if it is compressed.
 * @param read called with the number of bytes read, before decompression
 * @throws SourceFault if it cannot be read to its end, and TooLargeFault if it or any layer of it is too large
 */
export async function* bytesOf(
  file: string | undefined,
  read: (bytes: number) => void,
  { layers = 1, maxBytes = Infinity }: SourceOptions = {},
): AsyncGenerator<Buffer> {
  async function* counted() {
    for await (const chunk of file === undefined ? process.stdin : createReadStream(file)) {
      read(chunk.byteLength)
      yield chunk
    }
  }
  try {
    const once = limited(decompressed(counted()), maxBytes)
    yield* layers === 1 ? once : limited(decompressed(once), maxBytes)
  } catch (error) {
    if (error instanceof SourceFault) throw error
    throw new SourceFault(asError(error).message, { cause: error })
  }
}

async function* limited(source: AsyncGenerator<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const piece of source) {
    bytes += piece.byteLength
    if (bytes > maxBytes) throw new TooLargeFault()
    yield piece
  }
}

/** Recognises gzip by the first two bytes (RFC 1952), whatever the name of the file. */
async function* decompressed(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const first = await source.next()
  if (first.done === true) return
  async function* whole() {
    yield first.value
    yield* source
  }
  if (first.value[0] !== 0x1f || first.value[1] !== 0x8b) return yield* whole()
  yield* gunzip(whole())
}

/** Yields everything before the position where the data ends or is damaged. Ignores padding after a complete file. */
async function* gunzip(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const stream = createGunzip()
  const output: Buffer[] = []
  // A stream that fails loses its buffer, so nothing is left in it.
  stream.on('data', (piece: Buffer) => output.push(piece))
  const ended = finished(stream, { writable: false })
  // Handled by the next await.
  ended.catch(() => {})
  try {
    for await (const chunk of source) {
      for (let from = 0; from < chunk.length && !stream.readableEnded; from += MAX_COMPRESSED) {
        const written = Promise.withResolvers<void>()
        stream.write(chunk.subarray(from, from + MAX_COMPRESSED), () => written.resolve())
        // The callback is never called for bytes after the end.
        const fault = await Promise.race([written.promise, ended]).then(noFault, asError)
        yield* output.splice(0)
        if (fault !== undefined) throw fault
      }
    }
    stream.end()
    await ended
    yield* output
  } finally {
    stream.destroy()
  }
}

const noFault = () => undefined
