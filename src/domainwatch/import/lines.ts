/** A line of a file, without its end. */
export interface Line {
  /** The first is 1. */
  readonly number: number
  /** Undefined when it is longer than any line that could be right. */
  readonly text: string | undefined
}

/** What lines are read from could not be read to its end; what was read of it is right. */
export class SourceFault extends Error {}

const MAX_LINE_BYTES = 65_536
const NEWLINE = 0x0a

/**
 * The lines of a text, ended by LF or CRLF, in UTF-8 or, where a line is not that, in Latin-1: lists that pass through
 * spreadsheets are not always what they were. Holds one chunk and one line at a time.
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

function decode(bytes: Buffer, isFirst: boolean): string {
  let text
  try {
    text = utf8.decode(bytes)
  } catch {
    text = bytes.toString('latin1')
  }
  if (isFirst && text.startsWith('\uFEFF')) text = text.slice(1)
  return text.endsWith('\r') ? text.slice(0, -1) : text
}
