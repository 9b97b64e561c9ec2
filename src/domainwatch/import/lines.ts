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

/** The source of the lines could not be read to its end. What was read of it is valid. */
export class SourceFault extends Error {}

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
