/** A line of a file, without its line feed. */
export interface Line {
  /** The first is 1. */
  readonly number: number
  /**
   * Undefined when it is longer than any line that could be right. A carriage return at its end stays: where a quoted field
   * goes on behind it, it is a part of that.
   */
  readonly text: string | undefined
}

/** What lines are read from could not be read to its end; what was read of it is right. */
export class SourceFault extends Error {}

const MAX_LINE_BYTES = 65_536
const NEWLINE = 0x0a

/**
 * The lines of a text, ended by LF or CRLF, in UTF-8 or, where a line is not that, in what Windows calls ANSI: lists that
 * pass through spreadsheets are not always what they were. Holds one chunk and one line at a time.
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
    // Of a line that is too long only its length matters.
    if (length <= MAX_LINE_BYTES) rest.push(tail)
  }
  if (length > 0) yield take(Buffer.alloc(0))
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
