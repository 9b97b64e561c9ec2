const CLASSIC = 42
const BIG = 43
const VALUE_BYTES: Readonly<Record<number, number>> = {
  3: 2,
  4: 4,
  5: 8,
  8: 2,
  9: 4,
  10: 8,
  11: 4,
  12: 8,
  13: 4,
  16: 8,
  17: 8,
  18: 8,
}
/** Of one file, all read together: entries may point at one and the same array by the thousand. */
const MAX_VALUES = 1_000_000

interface Place {
  readonly at: number
  readonly size: number
  /** The values stand in the entry itself. */
  readonly inside: boolean
}

interface Directory {
  /** Where each entry stands. */
  readonly entries: readonly number[]
  /** Where the place of the next directory stands. */
  readonly end: number
}

/** The fields of a TIFF, 6.0 or BigTIFF, which differ in how wide they are. What reaches past the file throws a RangeError. */
export class TiffFields {
  readonly offsetBytes: number
  readonly entryBytes: number
  readonly #bytes: Buffer
  readonly #little: boolean
  readonly #big: boolean
  #valuesLeft = MAX_VALUES

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#little = bytes[0] === 0x49
    const version = this.#short(2)
    this.#big = version === BIG
    this.offsetBytes = this.#big ? 8 : 4
    this.entryBytes = this.#big ? 20 : 12
    if (version !== CLASSIC && (version !== BIG || this.#short(4) !== 8)) throw new RangeError('no TIFF')
  }

  get firstDirectory(): number {
    return this.offsetAt(this.#big ? 8 : 4)
  }

  directoryAt(at: number): Directory {
    const count = this.#big ? this.offsetAt(at) : this.#short(at)
    const first = at + (this.#big ? 8 : 2)
    const end = first + count * this.entryBytes
    if (end + this.offsetBytes > this.#bytes.length) throw new RangeError('a directory past the end')
    return { entries: Array.from({ length: count }, (_, i) => first + i * this.entryBytes), end }
  }

  /** Puts a directory in the place of one with as many entries or more. @param next as it is to stand in the file */
  writeDirectory(at: number, entries: readonly Buffer[], next: Buffer): void {
    const little = this.#little
    const count = Buffer.alloc(this.#big ? 8 : 2)
    if (this.#big) count[little ? 'writeBigUInt64LE' : 'writeBigUInt64BE'](BigInt(entries.length))
    else count[little ? 'writeUInt16LE' : 'writeUInt16BE'](entries.length)
    Buffer.concat([count, ...entries, next]).copy(this.#bytes, at)
  }

  tagOf(entry: number): number {
    return this.#short(entry)
  }

  placeOf(entry: number): Place {
    const size = (VALUE_BYTES[this.#short(entry + 2)] ?? 1) * this.offsetAt(entry + 4)
    const value = entry + 4 + this.offsetBytes
    const inside = size <= this.offsetBytes
    return { at: inside ? value : this.offsetAt(value), size, inside }
  }

  /** Of an entry that says where things lie, or how many bytes they have. */
  numbersOf(entry: number): number[] {
    const width = VALUE_BYTES[this.#short(entry + 2)] ?? 1
    const { at, size } = this.placeOf(entry)
    const count = Math.floor(size / width)
    this.#valuesLeft -= count
    if (this.#valuesLeft < 0) throw new RangeError('too many values')
    return Array.from({ length: count }, (_, i) => this.#numberAt(at + i * width, width))
  }

  offsetAt(at: number): number {
    return this.#numberAt(at, this.offsetBytes)
  }

  #short(at: number): number {
    return this.#numberAt(at, 2)
  }

  #numberAt(at: number, width: number): number {
    if (width === 8)
      return Number(this.#little ? this.#bytes.readBigUInt64LE(at) : this.#bytes.readBigUInt64BE(at))
    const bytes = Math.min(width, 4)
    return this.#little ? this.#bytes.readUIntLE(at, bytes) : this.#bytes.readUIntBE(at, bytes)
  }
}
