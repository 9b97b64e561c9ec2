import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { SourceFault } from './lines.ts'
import { asError } from '../../lib/errors.ts'

/**
 * Ways to compress: the first bytes of a file (RFC 1952, RFC 8878), and how many are processed at a time, because those of gzip may
 * expand a thousandfold, and those of zstd thirty times as much.
 */
const COMPRESSIONS = [
  { magic: Buffer.from([0x1f, 0x8b]), open: createGunzip, atOnce: 4_096 },
  { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), open: createZstdDecompress, atOnce: 256 },
] as const

const MAGIC_BYTES = Math.max(...COMPRESSIONS.map(({ magic }) => magic.length))

export interface SourceOptions {
  /** How often it may be compressed. */
  readonly layers?: 1 | 2
  /** Maximum size of the content of each layer: a large one may contain no bytes, but takes as long to read. */
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

/** Recognises a compressed file by its first bytes, whatever its name. */
async function* decompressed(source: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer = Buffer.alloc(0)
  while (start.length < MAGIC_BYTES) {
    const next = await source.next()
    if (next.done === true) break
    start = start.length === 0 ? next.value : Buffer.concat([start, next.value])
  }
  async function* whole() {
    if (start.length > 0) yield start
    yield* source
  }
  const compression = COMPRESSIONS.find(({ magic }) => magic.equals(start.subarray(0, magic.length)))
  if (compression === undefined) return yield* whole()
  yield* decompress(whole(), compression)
}

/** Yields everything before the position where the data ends or is damaged. Ignores padding after a complete file. */
async function* decompress(
  source: AsyncGenerator<Buffer>,
  { open, atOnce }: (typeof COMPRESSIONS)[number],
): AsyncGenerator<Buffer> {
  const stream = open()
  const output: Buffer[] = []
  // A stream that fails loses its buffer, so nothing is left in it.
  stream.on('data', (piece: Buffer) => output.push(piece))
  const ended = finished(stream, { writable: false })
  // Handled by the next await.
  ended.catch(() => {})
  try {
    for await (const chunk of source) {
      for (let from = 0; from < chunk.length && !stream.readableEnded; from += atOnce) {
        const written = Promise.withResolvers<void>()
        stream.write(chunk.subarray(from, from + atOnce), () => written.resolve())
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
