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
const TYPE_NS = 2
const TYPE_CNAME = 5
const TYPE_SOA = 6
const TYPE_OPT = 41
const CLASS_IN = 1
const MAX_NAME_LENGTH = 255

/** Unwinds the reader from any depth; `decodeMessage` turns it into a value. */
class Malformed extends Error {}
const MALFORMED = new Malformed('malformed DNS message')

/**
 * Reads a message whose only question, which ends at `questionEnd`, is known to be `name`. Names come lower-cased,
 * without final dot (the root is empty), with octets that no host name has as `\DDD`. Undefined for a malformed message.
 */
export function decodeMessage(bytes: Buffer, name: string, questionEnd: number): Message | undefined {
  try {
    const reader = new Reader(bytes, name, questionEnd)
    const answers = readRecords(reader, reader.uint16At(6))
    const authorities = readRecords(reader, reader.uint16At(8))
    const extendedRcode = readExtendedRcode(reader, reader.uint16At(10))
    return { flags: reader.uint16At(2), extendedRcode, answers, authorities }
  } catch (fault) {
    if (fault instanceof Malformed) return undefined
    throw fault
  }
}

const NO_RECORDS: readonly ResourceRecord[] = []
/** Most messages have fewer records in a section; room for them is made beforehand, which for one at a time is made for 17. */
const USUAL_RECORDS = 4

function readRecords(reader: Reader, count: number): readonly ResourceRecord[] {
  if (count === 0) return NO_RECORDS
  // oxlint-disable-next-line unicorn/no-new-array -- a length is meant
  const records = new Array<ResourceRecord>(Math.min(count, USUAL_RECORDS))
  let read = 0
  for (let i = 0; i < count; i++) {
    const name = reader.name()
    const type = reader.uint16()
    const klass = reader.uint16()
    const ttl = reader.uint32()
    const end = reader.dataEnd()
    if (klass === CLASS_IN && (type === TYPE_NS || type === TYPE_CNAME)) {
      const target = reader.name()
      if (reader.at !== end) throw MALFORMED
      records[read++] = { type: type === TYPE_NS ? 'NS' : 'CNAME', name, ttl, target }
    } else if (klass === CLASS_IN && type === TYPE_SOA) {
      reader.name()
      reader.name()
      // Five numbers follow, MINIMUM the last.
      if (reader.at + 20 !== end) throw MALFORMED
      reader.at = end - 4
      records[read++] = { type: 'SOA', name, ttl, minimum: reader.uint32() }
    }
    reader.at = end
  }
  records.length = read
  return records
}

function readExtendedRcode(reader: Reader, count: number): number {
  let rcode = 0
  for (let i = 0; i < count; i++) {
    reader.name()
    const type = reader.uint16()
    reader.uint16()
    const ttl = reader.uint32()
    reader.at = reader.dataEnd()
    if (type === TYPE_OPT) rcode = ttl >>> 24
  }
  return rcode
}

/** Reads one piece after the other; each throws `MALFORMED` where the message ends before it does. */
class Reader {
  /** The place from which to read on. */
  at: number
  readonly #bytes: Buffer
  readonly #question: string

  constructor(bytes: Buffer, question: string, at: number) {
    this.#bytes = bytes
    this.#question = question
    this.at = at
  }

  uint16At(at: number): number {
    if (at + 2 > this.#bytes.length) throw MALFORMED
    return ((this.#bytes[at] ?? 0) << 8) | (this.#bytes[at + 1] ?? 0)
  }

  uint16(): number {
    const value = this.uint16At(this.at)
    this.at += 2
    return value
  }

  uint32(): number {
    return this.uint16() * 0x1_0000 + this.uint16()
  }

  /** The length of a record's data; where they end. */
  dataEnd(): number {
    const end = this.uint16() + this.at
    if (end > this.#bytes.length) throw MALFORMED
    return end
  }

  name(): string {
    const bytes = this.#bytes
    let at = this.at
    // The usual owner: a pointer to the question.
    if (bytes[at] === 0xc0 && bytes[at + 1] === HEADER_BYTES) {
      this.at += 2
      return this.#question
    }
    let written = 0
    let length = 0
    let isPlain = true
    // Pointers may only lead backwards (RFC 1035, section 4.1.4), so that every chain of them ends.
    let limit = at
    let jumped = false
    for (;;) {
      const octet = bytes[at]
      if (octet === undefined) throw MALFORMED
      if (octet >= 0xc0) {
        const target = this.uint16At(at) & 0x3fff
        if (!jumped) this.at = at + 2
        if (target >= limit || target < HEADER_BYTES) throw MALFORMED
        jumped = true
        at = limit = target
        continue
      }
      if (octet >= 0x40) throw MALFORMED
      const next = at + 1 + octet
      length += 1 + octet
      if (next > bytes.length || length > MAX_NAME_LENGTH) throw MALFORMED
      if (octet === 0) {
        if (!jumped) this.at = next
        return isPlain ? textOf(written) : SCRATCH.toString('latin1', 0, written)
      }
      if (written > 0) SCRATCH[written++] = DOT
      for (let i = at + 1; i < next; i++) {
        const shown = SHOWN[bytes[i] ?? 0] ?? 0
        if (shown !== 0) SCRATCH[written++] = shown
        else {
          isPlain = false
          written += SCRATCH.write(escaped(bytes[i] ?? 0), written, 'latin1')
        }
      }
      at = next
    }
  }
}

const DOT = 0x2e
/** The name that is being read: 255 octets, each of which may need four characters. */
const SCRATCH = Buffer.alloc(4 * MAX_NAME_LENGTH)

/** How each octet of a label is shown, in lower case; 0 for those that need more than a character. */
const SHOWN = Uint8Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet).toLowerCase()
  return /^[a-z0-9_*/-]$/.test(character) ? character.charCodeAt(0) : 0
})

/** A dot inside a label must not look like one between labels. */
const escaped = (octet: number) => `\\${String(octet).padStart(3, '0')}`

/**
 * Names read before, by a hash of their octets: a few hosting companies serve most domains, and a string that exists
 * already costs neither time nor memory.
 */
const KNOWN: string[] = Array.from({ length: 4_096 }, () => '')

/** What the scratch holds, as a string. */
function textOf(length: number): string {
  let hash = length
  for (let i = 0; i < length; i++) hash = (Math.imul(hash, 31) + (SCRATCH[i] ?? 0)) | 0
  const slot = (hash ^ (hash >>> 12)) & (KNOWN.length - 1)
  const known = KNOWN[slot] ?? ''
  if (known.length === length) {
    let i = 0
    while (i < length && known.charCodeAt(i) === SCRATCH[i]) i++
    if (i === length) return known
  }
  return (KNOWN[slot] = SCRATCH.toString('latin1', 0, length))
}
