export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'avif' | 'tiff' | 'svg' | 'bmp' | 'heic'

export const mimeOf = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  tiff: 'image/tiff',
  svg: 'image/svg+xml',
  bmp: 'image/bmp',
  heic: 'image/heic',
} as const satisfies Record<ImageFormat, string>

/**
 * What the container says about itself. Decoders stop at the last row that they need, so a truncated file can look whole
 * to them.
 */
export interface Structure {
  /** The file reaches its own end marker. */
  readonly complete: boolean
  /** The decoder holds the whole image in memory before it returns the first row. */
  readonly buffered: boolean
  /** 16-bit gray without alpha. Pillow clips it to 8 bits, where it keeps the high byte of other deep formats. */
  readonly clipsGray: boolean
  /** The size does not bound the time to decode: a few bytes can take seconds. */
  readonly complex: boolean
}

export const complete: Structure = {
  complete: true,
  buffered: false,
  clipsGray: false,
  complex: false,
}
export const truncated: Structure = { ...complete, complete: false }

/** More ranges than any real file has metadata values. */
const MAX_ERASED = 1_000_000

/** Parts of a file to keep, in order. Adjacent parts are merged, because a file can consist of millions of parts. */
export class KeptRanges {
  /** Alternately start and end. */
  readonly #bounds: number[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  add(start: number, end: number): void {
    if (start === end) return
    this.#length += end - start
    if (this.#bounds.at(-1) === start) this.#bounds[this.#bounds.length - 1] = end
    else this.#bounds.push(start, end)
  }

  /** @param inserted bytes to put at `position` of the result */
  copy(bytes: Buffer, inserted: Buffer = Buffer.alloc(0), position = 0): Buffer {
    const result = Buffer.allocUnsafeSlow(this.#length + inserted.length)
    let at = 0
    for (let i = 0; i < this.#bounds.length; i += 2) {
      at += bytes.copy(result, at, this.#bounds[i], this.#bounds[i + 1])
    }
    if (inserted.length > 0) {
      result.copyWithin(position + inserted.length, position, at)
      inserted.copy(result, position)
    }
    return result
  }
}

/** Ranges of a file to overwrite with zeros. Each byte is written once, however many ranges contain it. */
export class ErasedRanges {
  /** Ends by start. */
  readonly #ends = new Map<number, number>()

  /** @throws RangeError for more ranges than a real file has */
  add(start: number, end: number): void {
    if ((this.#ends.get(start) ?? start) >= end) return
    this.#ends.set(start, end)
    if (this.#ends.size > MAX_ERASED) throw new RangeError('too many values')
  }

  /** Ranges past the end of the file are ignored. */
  erase(bytes: Buffer): void {
    let erased = 0
    for (const start of Float64Array.from(this.#ends.keys()).sort()) {
      const end = Math.min(this.#ends.get(start) ?? start, bytes.length)
      if (end > erased) bytes.fill(0, Math.max(start, erased), end)
      erased = Math.max(erased, end)
    }
  }
}
