const STAR = 0x2a
const ONE = 0x3f
/** Characters of a name, or of its A-label. */
const MAX_CHARACTERS = 63
const NO_STATES = new Int32Array(0)

/**
 * A pattern of `*` (any text) and `?` (any one character) as a nondeterministic automaton for texts of one byte per character.
 * State `n` means that the first `n` characters of the pattern have matched. The active states are the bits of two words, so
 * a byte takes a few operations and no branch (Shift-And: Baeza-Yates and Gonnet, "A new approach to text searching", 1992).
 */
export class BytePattern {
  /** For each byte, the states that it advances: 0 to 31, and 32 to 63, which short patterns do not have. */
  readonly #low = new Int32Array(256)
  readonly #high: Int32Array
  /** The states at a star, which stay active for any byte. */
  #starsLow = 0
  #starsHigh = 0
  /** The number of characters other than stars, and so the accepting state. */
  readonly #length: number

  constructor(pattern: Uint8Array) {
    this.#high = pattern.length > 32 ? new Int32Array(256) : NO_STATES
    let state = 0
    for (const code of pattern) {
      const bit = 1 << (state & 31)
      if (code === STAR) {
        if (state < 32) this.#starsLow |= bit
        else this.#starsHigh |= bit
        continue
      }
      const steps = state < 32 ? this.#low : this.#high
      const [first, last] = code === ONE ? [0, 255] : [code, code]
      for (let byte = first; byte <= last; byte++) steps[byte] = (steps[byte] ?? 0) | bit
      state++
    }
    this.#length = state
  }

  /** Returns whether the pattern matches all bytes of a range. */
  matches(bytes: Uint8Array, from: number, to: number): boolean {
    const length = this.#length
    if (to - from < length || length > MAX_CHARACTERS) return false
    return length < 32 ? this.#matchesShort(bytes, from, to) : this.#matchesLong(bytes, from, to)
  }

  /** For up to 31 characters, whose states fit in the low word. */
  #matchesShort(bytes: Uint8Array, from: number, to: number): boolean {
    const steps = this.#low
    const stars = this.#starsLow
    let states = 1
    for (let at = from; at < to && states !== 0; at++) {
      states = ((states & (steps[bytes[at] ?? 0] ?? 0)) << 1) | (states & stars)
    }
    return (states & (1 << this.#length)) !== 0
  }

  #matchesLong(bytes: Uint8Array, from: number, to: number): boolean {
    let low = 1
    let high = 0
    for (let at = from; at < to && (low | high) !== 0; at++) {
      const byte = bytes[at] ?? 0
      const lowSteps = low & (this.#low[byte] ?? 0)
      low = (lowSteps << 1) | (low & this.#starsLow)
      high = ((high & (this.#high[byte] ?? 0)) << 1) | (lowSteps >>> 31) | (high & this.#starsHigh)
    }
    return (high & (1 << (this.#length - 32))) !== 0
  }
}
