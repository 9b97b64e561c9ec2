/** Thrown at the first malformed octet, from any depth; `decodeMessage` turns it into a value. */
export class Malformed extends Error {}
export const MALFORMED = new Malformed('malformed DNS message')

const HEADER_BYTES = 12
const MAX_NAME_LENGTH = 255
/** A name has at most 127 labels, so more pointers than that are an attack: they cost time in every record that uses them. */
const MAX_POINTERS = 127
/** A message has at most 65,535 octets. Compressed names make more text of them only in an attack on processor time. */
const MAX_NAMES_TEXT = 65_535

/** Reads a message field by field (RFC 1035, section 4). Every method throws `MALFORMED` at the end of the message. */
export class Reader {
  /** Offset of the next field. */
  at: number
  readonly #bytes: Buffer
  readonly #question: string
  /** Characters of the names that were read, and the pointers in them. */
  #namesText = 0

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

  /** Reads RDLENGTH. Returns the offset at which the RDATA ends. */
  dataEnd(): number {
    const end = this.uint16() + this.at
    if (end > this.#bytes.length) throw MALFORMED
    return end
  }

  /** Returns the octets up to `end`. They stay valid only as long as the message. */
  octets(end: number): Buffer {
    if (end < this.at || end > this.#bytes.length) throw MALFORMED
    const octets = this.#bytes.subarray(this.at, end)
    this.at = end
    return octets
  }

  /** Reads a domain name: lower-case, without trailing dot, the root empty, other octets than those of host names as `\DDD`. */
  name(): string {
    const bytes = this.#bytes
    let at = this.at
    // The usual owner is a pointer to the question.
    if (bytes[at] === 0xc0 && bytes[at + 1] === HEADER_BYTES) {
      this.at += 2
      return this.#question
    }
    let name = ''
    let length = 0
    // A pointer refers to a prior occurrence (RFC 1035, section 4.1.4), so every chain of them ends.
    let limit = at
    let pointers = 0
    for (;;) {
      const octet = bytes[at]
      if (octet === undefined) throw MALFORMED
      if (octet >= 0xc0) {
        const target = this.uint16At(at) & 0x3fff
        if (pointers++ === 0) this.at = at + 2
        if (target >= limit || target < HEADER_BYTES || pointers > MAX_POINTERS) throw MALFORMED
        at = limit = target
        continue
      }
      const next = at + 1 + octet
      length += 1 + octet
      if (octet >= 0x40 || next > bytes.length || length > MAX_NAME_LENGTH) throw MALFORMED
      if (octet === 0) {
        if (pointers === 0) this.at = next
        if ((this.#namesText += name.length + pointers) > MAX_NAMES_TEXT) throw MALFORMED
        return name
      }
      if (name !== '') name += '.'
      for (let i = at + 1; i < next; i++) name += SHOWN[bytes[i] ?? 0]
      at = next
    }
  }
}

/** The text of each octet of a label. A dot inside a label must not look like one between labels. */
const SHOWN = Array.from({ length: 256 }, (_, octet) => {
  const character = String.fromCharCode(octet).toLowerCase()
  return /^[a-z0-9_*/-]$/.test(character) ? character : `\\${String(octet).padStart(3, '0')}`
})
