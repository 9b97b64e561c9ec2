import type { TextKey } from '../../i18n/index.ts'

/** A file that is not a list, with the reason for the user. */
export class UnreadableFile extends Error {
  readonly reason: TextKey

  constructor(reason: TextKey) {
    super(reason)
    this.reason = reason
  }
}

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Limits before and after decompression: a list of the whole zone is a third of this. */
const MAX_BYTES = 100_000_000
/** Bytes read to detect the type of a file. */
const SAMPLE_BYTES = 4_096
const NEWLINE = 0x0a
const GZIP = [0x1f, 0x8b]
const BYTE_ORDER_MARKS: readonly (readonly [Encoding, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
/** Zip, the container of current spreadsheets, and the older spreadsheet format. */
const SPREADSHEETS = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
]

type Bytes = Uint8Array<ArrayBuffer>

/**
 * Yields the text of a file in chunks. Decompresses gzip, whatever the file name. Decodes by the byte order mark,
 * otherwise as UTF-8, and lines that are not valid UTF-8 as Windows-1252.
 * @throws UnreadableFile if it is empty, too large or not text
 */
export async function* decodeText(file: Blob, tell: (encoding: Encoding) => void): AsyncGenerator<string> {
  if (file.size > MAX_BYTES) throw new UnreadableFile('import.tooLarge')
  const head = new Uint8Array(await file.slice(0, SAMPLE_BYTES).arrayBuffer())
  const isPacked = startsWith(head, GZIP)
  const stream = isPacked ? file.stream().pipeThrough(new DecompressionStream('gzip')) : file.stream()
  const chunks = chunksOf(stream, isPacked)
  let first: Bytes = new Uint8Array()
  while (first.length < SAMPLE_BYTES) {
    const next = await chunks.next()
    if (next.done === true) break
    first = joined(first, next.value)
  }
  if (first.length === 0) throw new UnreadableFile('import.empty')
  const encoding = encodingOf(first)
  tell(encoding)
  const all = async function* () {
    yield first
    yield* chunks
  }
  yield* encoding === 'utf-8' ? decodedLines(all(), tell) : decoded(all(), encoding)
}

async function* chunksOf(stream: ReadableStream<Bytes>, isPacked: boolean): AsyncGenerator<Bytes, undefined> {
  const reader = stream.getReader()
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      bytes += value.length
      if (bytes > MAX_BYTES) throw new UnreadableFile('import.tooLarge')
      yield value
    }
  } catch (error) {
    if (isPacked && !(error instanceof UnreadableFile)) throw new UnreadableFile('import.brokenGzip')
    throw error
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** @throws UnreadableFile if it is not text */
function encodingOf(bytes: Bytes): Encoding {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const [marked] = BYTE_ORDER_MARKS.find(([, mark]) => startsWith(sample, mark)) ?? []
  if (marked !== undefined) return marked
  if (SPREADSHEETS.some((mark) => startsWith(sample, mark))) throw new UnreadableFile('import.spreadsheet')
  if (sample.includes(0)) {
    // In UTF-16 without a mark, every second byte of common letters is zero.
    const zeros = [0, 0]
    for (const [i, byte] of sample.entries()) if (byte === 0) zeros[i % 2] = (zeros[i % 2] ?? 0) + 1
    const [even = 0, odd = 0] = zeros
    if (odd > sample.length / 3 && even === 0) return 'utf-16le'
    if (even > sample.length / 3 && odd === 0) return 'utf-16be'
  }
  const isControl = (byte: number) => byte < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1a].includes(byte)
  if (sample.some(isControl)) throw new UnreadableFile('import.binary')
  const text = new TextDecoder().decode(sample).trimStart()
  if (/^[{[]/.test(text)) throw new UnreadableFile('import.json')
  if (text.startsWith('<')) throw new UnreadableFile('import.page')
  return 'utf-8'
}

async function* decoded(chunks: AsyncIterable<Bytes>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** Decodes whole lines, so that an invalid one does not affect the others. */
async function* decodedLines(
  chunks: AsyncIterable<Bytes>,
  tell: (encoding: Encoding) => void,
): AsyncGenerator<string> {
  const strict = new TextDecoder('utf-8', { fatal: true })
  const loose = new TextDecoder('windows-1252')
  const decode = (bytes: Bytes): string => {
    try {
      return strict.decode(bytes)
    } catch {
      const end = bytes.indexOf(NEWLINE)
      if (end === -1 || end === bytes.length - 1) {
        tell('windows-1252')
        return loose.decode(bytes)
      }
      return linesIn(bytes).map(decode).join('')
    }
  }
  let rest: Bytes = new Uint8Array()
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end === 0) {
      rest = joined(rest, chunk)
      if (rest.length > MAX_BYTES / 100) throw new UnreadableFile('import.binary')
      continue
    }
    yield decode(joined(rest, chunk.subarray(0, end)))
    rest = chunk.slice(end)
  }
  yield decode(rest)
}

function linesIn(bytes: Bytes): Bytes[] {
  const lines: Bytes[] = []
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, at)
    const end = found === -1 ? bytes.length : found + 1
    lines.push(bytes.subarray(at, end))
    at = end
  }
  return lines
}

function joined(a: Bytes, b: Bytes): Bytes {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

const startsWith = (bytes: Bytes, mark: readonly number[]) => mark.every((byte, i) => bytes[i] === byte)
