import { createReadStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
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

interface SourceOptions {
  /** How often it may be compressed. */
  readonly layers?: 1 | 2
  /** Maximum size of the content of each layer: a large one may contain no bytes, but takes as long to read. */
  readonly maxBytes?: number | undefined
}

/** The source of the lines could not be read to its end. What was read of it is valid. */
export class SourceFault extends Error {}

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

/** A line of a file, without its line feed. */
export interface Line {
  /** Counts from 1. */
  readonly number: number
  /**
   * Undefined if it is longer than any valid line. A carriage return at its end is kept: inside a quoted field it belongs to
   * the value.
   */
  readonly text: string | undefined
  /** True for a last line without a line feed, where others have one: it may be a part. */
  readonly isCut?: true
}

const MAX_LINE_BYTES = 65_536
const NEWLINE = 0x0a

/**
 * Yields the lines of a text that end in LF or CRLF. A line that is not valid UTF-8 is decoded as Windows-1252, because
 * spreadsheets save lists that way. Holds one chunk and one line at a time.
 */
export async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let number = 0
  let rest: Buffer[] = []
  let length = 0
  const take = (end: Buffer): Line => {
    const bytes = rest.length === 0 ? end : Buffer.concat([...rest, end])
    const tooLong = length + end.length > MAX_LINE_BYTES
    rest = []
    length = 0
    number++
    return { number, text: tooLong ? undefined : decode(bytes, number === 1) }
  }
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      yield take(bytes.subarray(from, at))
      from = at + 1
    }
    const tail = bytes.subarray(from)
    length += tail.length
    // The content of a line that is too long is dropped.
    if (length <= MAX_LINE_BYTES) rest.push(tail)
  }
  if (length === 0) return
  const last = take(Buffer.alloc(0))
  yield number === 1 ? last : { ...last, isCut: true }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const ansi = new TextDecoder('windows-1252')

function decode(bytes: Buffer, isFirst: boolean): string {
  let text
  try {
    text = utf8.decode(bytes)
  } catch {
    text = ansi.decode(bytes)
  }
  return isFirst && text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Lines that one record may span if a quoted field contains line feeds: an agent has at most 100 characters. */
const MAX_JOINED = 101

/** `open`: the text could become a record with the lines that follow. `broken`: it cannot. */
export type Completeness = 'complete' | 'open' | 'broken'

/**
 * Joins the lines of records that span several, and removes the carriage return at a record's end. If a record does
 * not end, its first line is yielded alone and reading resumes at the second: an unbalanced quote affects only its
 * own line.
 */
export async function* joinLines(
  lines: AsyncIterable<Line>,
  completeness: (text: string) => Completeness,
): AsyncGenerator<Line> {
  let held: Line[] = []
  function* take(line: Line): Generator<Line> {
    held.push(line)
    const text = joined(held)
    const state = text === undefined ? 'broken' : completeness(text)
    if (state === 'complete') {
      yield { ...line, number: held[0]?.number ?? line.number, text }
      held = []
    } else if (state === 'broken' || held.length === MAX_JOINED) yield* takeFirstAlone()
  }
  function* takeFirstAlone(): Generator<Line> {
    const [first, ...others] = held
    held = []
    if (first !== undefined) yield { ...first, text: joined([first]) }
    for (const other of others) yield* take(other)
  }
  for await (const line of lines) yield* take(line)
  while (held.length > 0) yield* takeFirstAlone()
}

function joined(lines: readonly Line[]): string | undefined {
  const texts = lines.map(({ text }) => text)
  return texts.includes(undefined) ? undefined : texts.join('\n').replace(/\r$/, '')
}
