/** The records that matter for name servers; all others are skipped by their length, whatever is in them. */
export type ResourceRecord =
  | { readonly type: 'NS' | 'CNAME'; readonly name: string; readonly ttl: number; readonly target: string }
  | { readonly type: 'SOA'; readonly name: string; readonly ttl: number; readonly minimum: number }

export interface Message {
  /** The 16 bits after the id. */
  readonly flags: number
  /** Upper bits of the response code, from the OPT record (RFC 6891). */
  readonly extendedRcode: number
  readonly answers: readonly ResourceRecord[]
  readonly authorities: readonly ResourceRecord[]
}

const HEADER_BYTES = 12
const TYPE = { NS: 2, CNAME: 5, SOA: 6, OPT: 41 } as const
const CLASS_IN = 1
const MAX_NAME_LENGTH = 255

/** A place in a message from which to read on; moves past what has been read. */
interface Cursor {
  at: number
}

/** Unwinds the reader from any depth; `decodeMessage` turns it into a value. */
class Malformed extends Error {}
const MALFORMED = new Malformed('malformed DNS message')

/**
 * Reads a message whose only question, which ends at `questionEnd`, is known to be `name`. Names come lower-cased,
 * without final dot (the root is empty), with octets that no host name has as `\DDD`. Undefined for a malformed message.
 */
export function decodeMessage(bytes: Buffer, name: string, questionEnd: number): Message | undefined {
  try {
    const cursor = { at: questionEnd }
    const answers = readRecords(bytes, cursor, uint16(bytes, 6), name)
    const authorities = readRecords(bytes, cursor, uint16(bytes, 8), name)
    const extendedRcode = readExtendedRcode(bytes, cursor, uint16(bytes, 10))
    return { flags: uint16(bytes, 2), extendedRcode, answers, authorities }
  } catch (fault) {
    if (fault instanceof Malformed) return undefined
    throw fault
  }
}

function readRecords(bytes: Buffer, cursor: Cursor, count: number, question: string): ResourceRecord[] {
  const records: ResourceRecord[] = []
  for (let i = 0; i < count; i++) {
    const name = readName(bytes, cursor, question)
    const { type, klass, ttl, start, end } = readFixedPart(bytes, cursor)
    if (klass !== CLASS_IN) continue
    const data = { at: start }
    if (type === TYPE.NS || type === TYPE.CNAME) {
      const target = readName(bytes, data, question)
      if (data.at !== end) throw MALFORMED
      records.push({ type: type === TYPE.NS ? 'NS' : 'CNAME', name, ttl, target })
    } else if (type === TYPE.SOA) {
      readName(bytes, data, question)
      readName(bytes, data, question)
      // Five numbers follow, MINIMUM the last.
      if (data.at + 20 !== end) throw MALFORMED
      records.push({ type: 'SOA', name, ttl, minimum: bytes.readUInt32BE(end - 4) })
    }
  }
  return records
}

/** Type to data length; leaves the cursor behind the record. */
function readFixedPart(
  bytes: Buffer,
  cursor: Cursor,
): { type: number; klass: number; ttl: number; start: number; end: number } {
  const { at } = cursor
  const start = at + 10
  const end = start + uint16(bytes, at + 8)
  if (end > bytes.length) throw MALFORMED
  cursor.at = end
  return {
    type: uint16(bytes, at),
    klass: uint16(bytes, at + 2),
    ttl: bytes.readUInt32BE(at + 4),
    start,
    end,
  }
}

function readExtendedRcode(bytes: Buffer, cursor: Cursor, count: number): number {
  let rcode = 0
  for (let i = 0; i < count; i++) {
    readName(bytes, cursor, '')
    const { type, ttl } = readFixedPart(bytes, cursor)
    if (type === TYPE.OPT) rcode = ttl >>> 24
  }
  return rcode
}

function readName(bytes: Buffer, cursor: Cursor, question: string): string {
  let name = ''
  let length = 0
  let { at } = cursor
  // Pointers may only lead backwards (RFC 1035, section 4.1.4), so that every chain of them ends.
  let limit = at
  let jumped = false
  for (;;) {
    const octet = bytes[at]
    if (octet === undefined) throw MALFORMED
    if (octet >= 0xc0) {
      const target = uint16(bytes, at) & 0x3fff
      if (!jumped) cursor.at = at + 2
      if (target >= limit || target < HEADER_BYTES) throw MALFORMED
      // The usual case: a pointer to the question.
      if (target === HEADER_BYTES && question !== '') return name === '' ? question : `${name}.${question}`
      jumped = true
      at = limit = target
      continue
    }
    if (octet >= 0x40) throw MALFORMED
    const next = at + 1 + octet
    length += 1 + octet
    if (next > bytes.length || length > MAX_NAME_LENGTH) throw MALFORMED
    if (octet === 0) {
      if (!jumped) cursor.at = next
      return name
    }
    if (name !== '') name += '.'
    for (let i = at + 1; i < next; i++) name += CHARACTERS[bytes[i] ?? 0] ?? ''
    at = next
  }
}

/** How each octet of a label is shown; a dot inside a label must not look like one between labels. */
const CHARACTERS: readonly string[] = Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet).toLowerCase()
  return /^[a-z0-9_*/-]$/.test(character) ? character : `\\${String(octet).padStart(3, '0')}`
})

function uint16(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) throw MALFORMED
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
