const STAR = 0x2a
const ONE = 0x3f

/**
 * A pattern of `*` (any text) and `?` (any one character), compiled for texts of one byte per character. What comes before the
 * first star and after the last one has its place; each part in between is matched as early as possible, since a later place
 * could gain nothing.
 */
export class BytePattern {
  readonly #head: Part
  readonly #tail: Part
  readonly #between: readonly Part[]
  readonly #hasStar: boolean
  /** Bytes of all parts. */
  readonly #minLength: number

  constructor(pattern: Uint8Array) {
    const parts = split(pattern)
    this.#head = parts[0] ?? partOf([])
    this.#hasStar = parts.length > 1
    this.#tail = this.#hasStar ? (parts.at(-1) ?? partOf([])) : partOf([])
    this.#between = parts.slice(1, -1).filter(({ bytes }) => bytes.length > 0)
    this.#minLength = pattern.length - (parts.length - 1)
  }

  /** Whether the pattern describes all bytes from one place up to before another. */
  matches(bytes: Uint8Array, from: number, to: number): boolean {
    const length = to - from
    if (length < this.#minLength || (!this.#hasStar && length > this.#minLength)) return false
    if (!isAt(bytes, from, this.#head)) return false
    const end = to - this.#tail.bytes.length
    if (!isAt(bytes, end, this.#tail)) return false
    let at = from + this.#head.bytes.length
    for (const part of this.#between) {
      at = endOfFirst(bytes, at, end, part)
      if (at < 0) return false
    }
    return true
  }
}

/** The bytes between two stars. */
interface Part {
  readonly bytes: Uint8Array
  /** The index of its first byte that is not `?`. */
  readonly anchor: number
}

function split(pattern: Uint8Array): Part[] {
  const parts: number[][] = [[]]
  for (const code of pattern) {
    if (code === STAR) parts.push([])
    else parts.at(-1)?.push(code)
  }
  return parts.map(partOf)
}

const partOf = (codes: readonly number[]): Part => ({
  bytes: Uint8Array.from(codes),
  anchor: codes.findIndex((code) => code !== ONE),
})

function isAt(bytes: Uint8Array, from: number, { bytes: wanted }: Part): boolean {
  for (let i = 0; i < wanted.length; i++) {
    const code = wanted[i]
    if (code !== ONE && code !== bytes[from + i]) return false
  }
  return true
}

/** Where the first occurrence of a part ends; -1 if there is none before `end`. */
function endOfFirst(bytes: Uint8Array, from: number, end: number, part: Part): number {
  const { bytes: wanted, anchor } = part
  const last = end - wanted.length
  if (anchor < 0) return from <= last ? from + wanted.length : -1
  const first = wanted[anchor]
  for (let at = from; at <= last; at++) {
    if (bytes[at + anchor] === first && isAt(bytes, at, part)) return at + wanted.length
  }
  return -1
}
