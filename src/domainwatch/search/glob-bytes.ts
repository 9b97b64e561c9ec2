const STAR = 0x2a
const ONE = 0x3f

/**
 * A pattern of `*` and `?`, taken apart once: `matchesGlob` on bytes. What stands before the first star and behind the last
 * one has its place; each part between stars is looked for where the one before it ended, as a later place could gain nothing.
 */
export class BytesGlob {
  readonly #head: Part
  readonly #tail: Part
  readonly #between: readonly Part[]
  readonly #hasStar: boolean
  /** Bytes of all parts. */
  readonly #least: number

  constructor(pattern: Uint8Array) {
    const parts = split(pattern)
    this.#head = parts[0] ?? partOf([])
    this.#hasStar = parts.length > 1
    this.#tail = this.#hasStar ? (parts.at(-1) ?? partOf([])) : partOf([])
    this.#between = parts.slice(1, -1).filter(({ bytes }) => bytes.length > 0)
    this.#least = pattern.length - (parts.length - 1)
  }

  /** Whether it describes the whole of the bytes from one place up to another. */
  matches(bytes: Uint8Array, from: number, to: number): boolean {
    const length = to - from
    if (length < this.#least || (!this.#hasStar && length > this.#least)) return false
    if (!isAt(bytes, from, this.#head)) return false
    const end = to - this.#tail.bytes.length
    if (!isAt(bytes, end, this.#tail)) return false
    let at = from + this.#head.bytes.length
    for (const part of this.#between) {
      at = behind(bytes, at, end, part)
      if (at < 0) return false
    }
    return true
  }
}

/** What stands between two stars, where `?` is any byte. */
interface Part {
  readonly bytes: Uint8Array
  /** Where its first byte is that is not any. */
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

/** Behind the first place of a part; -1 where it has none before `end`. */
function behind(bytes: Uint8Array, from: number, end: number, part: Part): number {
  const { bytes: wanted, anchor } = part
  const last = end - wanted.length
  if (anchor < 0) return from <= last ? from + wanted.length : -1
  const first = wanted[anchor]
  for (let at = from; at <= last; at++) {
    if (bytes[at + anchor] === first && isAt(bytes, at, part)) return at + wanted.length
  }
  return -1
}
