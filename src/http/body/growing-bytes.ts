import { releaseBuffer } from '../../lib/release-buffer.ts'

/** A body that comes in one piece gets exactly its size; of others the first pieces share this much. */
const FIRST_BYTES = 16 * 1024

/** Bytes that arrive in pieces, in memory that doubles as it fills. */
export class GrowingBytes {
  readonly #max: number
  readonly #charge: (bytes: number) => void
  #bytes = new Uint8Array()
  #length = 0

  /**
   * @param max bytes that may come at most
   * @param charge called before more memory is taken; what it throws is thrown on
   */
  constructor(max: number, charge: (bytes: number) => void) {
    this.#max = max
    this.#charge = charge
  }

  get length(): number {
    return this.#length
  }

  append(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength
    if (length > this.#bytes.byteLength) this.#growTo(length)
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** All that came; it owns its memory. */
  take(): Uint8Array<ArrayBuffer> {
    if (this.#length === this.#bytes.byteLength) return this.#bytes
    const bytes = this.#bytes.slice(0, this.#length)
    releaseBuffer(this.#bytes)
    return bytes
  }

  #growTo(length: number): void {
    const old = this.#bytes
    const capacity = Math.min(this.#max, Math.max(length, 2 * old.byteLength, FIRST_BYTES))
    this.#charge(capacity - old.byteLength)
    this.#bytes = new Uint8Array(capacity)
    this.#bytes.set(old.subarray(0, this.#length))
    releaseBuffer(old)
  }
}
