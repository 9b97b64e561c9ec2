import { instantiateKernels, type Kernels } from './kernels.ts'

/** Interleaved 8-bit samples without padding between rows: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. */
export interface Pixels {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: 1 | 2 | 3 | 4
}

/** @throws RangeError if the data does not have this shape */
export function asPixels(data: Uint8Array, width: number, height: number, channels: number): Pixels {
  if (channels !== 1 && channels !== 2 && channels !== 3 && channels !== 4)
    throw new RangeError(`${channels} channels`)
  if (data.length < width * height * channels) throw new RangeError('too few samples')
  return { data, width, height, channels }
}

/** Converts 16-bit gray to 8 bits as Pillow does: values above 255 become white. */
export function clipGray(samples: Uint16Array): Uint8Array {
  return new Uint8Array(new Uint8ClampedArray(samples).buffer)
}

/** Converts 16-bit samples to 8 bits as they look. */
export function highBytes(samples: Uint16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length)
  // `Uint8Array.from` takes forty times as long.
  for (let i = 0; i < bytes.length; i++) bytes[i] = (samples[i] ?? 0) >> 8
  return bytes
}

/**
 * Converts CMYK (0 means no ink) to RGB as Pillow does, without colour management. In place: every fourth byte
 * stays as it is.
 */
export function cmykToRgb(data: Uint8Array): void {
  for (let at = 0; at + 3 < data.length; at += 4) {
    const light = 255 - (data[at + 3] ?? 0)
    for (let i = at; i < at + 3; i++) data[i] = Math.max(0, light - multiply(data[i] ?? 0, light))
  }
}

/** a * b / 255, rounded, in integers. */
function multiply(a: number, b: number): number {
  const product = a * b + 128
  return ((product >> 8) + product) >> 8
}

/** ITU-R 601 luma in 16-bit fixed point, as Pillow rounds it. */
export const lumaOf = (red: number, green: number, blue: number): number =>
  (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >>> 16

const COLUMNS = 9
const ROWS = 8
/** Pixels are copied to WebAssembly in strips of about this many bytes, so that its memory stays small for any image. */
const STRIP_BYTES = 512 * 1024
/** The vector loops read up to this many bytes past a row. */
const SLACK_BYTES = 128
const PAGE_BYTES = 65536
/** Vectors that the kernel expects at the start of its memory; see assembly/perceptual-hash.ts. */
const VECTORS = [
  // How four RGB pixels spread to four bytes each (an index above 15 gives 0), as little-endian pairs.
  [0x0100, 0xff02, 0x0403, 0xff05, 0x0706, 0xff08, 0x0a09, 0xff0b],
  [19595, 7471, 19595, 7471, 19595, 7471, 19595, 7471],
  [19235, 0, 19235, 0, 19235, 0, 19235, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x8000, 0, 0x8000, 0, 0x8000, 0, 0x8000, 0],
].flat()
const TABLE = VECTORS.length * 2
const WEIGHTS = TABLE + COLUMNS * 16

/** One output sample of a resize: the sum of `weights[i]` times the input sample at `first + i`. */
interface Taps {
  readonly first: number
  readonly weights: Int32Array
}

/** Fractional bits of a weight: a 32-bit sum minus 8 bits of result and 2 of overshoot. */
const PRECISION_BITS = 32 - 8 - 2
const LANCZOS_SUPPORT = 3

/** sinc(x) sinc(x/3) within ±3, with a single sine: sin 3a = 3 sin a - 4 sin³ a. */
function lanczos(x: number): number {
  if (x < -LANCZOS_SUPPORT || x >= LANCZOS_SUPPORT) return 0
  if (x === 0) return 1
  const angle = (x * Math.PI) / LANCZOS_SUPPORT
  const sine = Math.sin(angle)
  return (sine * sine * (3 - 4 * sine * sine)) / (LANCZOS_SUPPORT * angle * angle)
}

/**
 * The weights of Pillow's 8-bit Lanczos resize from `from` to `to` samples. Every rounding step affects the result: weights
 * are normalised in floating point first, then each is rounded to fixed point.
 */
export function lanczosTaps(from: number, to: number): readonly Taps[] {
  const scale = from / to
  const filterScale = Math.max(scale, 1)
  const support = LANCZOS_SUPPORT * filterScale
  const inverse = 1 / filterScale
  return Array.from({ length: to }, (_, index) => {
    const center = (index + 0.5) * scale
    const first = Math.max(0, Math.trunc(center - support + 0.5))
    const end = Math.min(from, Math.trunc(center + support + 0.5))
    const exact = new Float64Array(end - first)
    let sum = 0
    for (let i = 0; i < exact.length; i++) {
      const weight = lanczos((i + first - center + 0.5) * inverse)
      exact[i] = weight
      sum += weight
    }
    const weights = new Int32Array(exact.length)
    for (let i = 0; i < exact.length; i++) {
      const weight = ((exact[i] ?? 0) / (sum === 0 ? 1 : sum)) * (1 << PRECISION_BITS)
      // A 32-bit lane truncates towards zero, so this rounds half away from zero.
      weights[i] = weight < 0 ? weight - 0.5 : weight + 0.5
    }
    return { first, weights }
  })
}

const align = (offset: number): number => (offset + 15) & ~15

/** The horizontal pass, which reads every pixel. Its memory grows to what the widest image needed. */
class HorizontalPass {
  readonly #memory = new WebAssembly.Memory({ initial: 1 })
  readonly #kernels: Kernels

  constructor() {
    new Uint16Array(this.#memory.buffer).set(VECTORS)
    this.#kernels = instantiateKernels(this.#memory)
  }

  /** Returns `height` rows of nine bytes. */
  run({ data, width, height, channels }: Pixels): Uint8Array {
    const { luma, strip, target, rowsPerStrip } = this.#prepare(width, height, channels)
    const heap = new Uint8Array(this.#memory.buffer)
    const narrow = new Uint8Array(height * COLUMNS)
    for (let y = 0; y < height; y += rowsPerStrip) {
      const count = Math.min(rowsPerStrip, height - y)
      heap.set(data.subarray(y * width * channels, (y + count) * width * channels), strip)
      this.#kernels.reduceRows(strip, channels, width, count, TABLE, luma, target)
      narrow.set(heap.subarray(target, target + count * COLUMNS), y * COLUMNS)
    }
    return narrow
  }

  /** Lays out the memory and writes the weights. */
  #prepare(width: number, height: number, channels: number) {
    const taps = lanczosTaps(width, COLUMNS)
    const padded = taps.map(({ weights }) => (weights.length + 31) & ~31)
    const weightBytes = padded.reduce((sum, count) => sum + count * 4, 0)
    const luma = align(WEIGHTS + weightBytes)
    const strip = align(luma + width * 2 + SLACK_BYTES)
    const rowsPerStrip = Math.min(height, Math.max(1, Math.floor(STRIP_BYTES / (width * channels))))
    const target = align(strip + rowsPerStrip * width * channels + SLACK_BYTES)
    const missing = target + rowsPerStrip * COLUMNS - this.#memory.buffer.byteLength
    if (missing > 0) this.#memory.grow(Math.ceil(missing / PAGE_BYTES))

    const { buffer } = this.#memory
    const records = new Int32Array(buffer, TABLE, COLUMNS * 4)
    let next = WEIGHTS
    taps.forEach(({ first, weights }, column) => {
      const count = padded[column] ?? 0
      const low = new Int16Array(buffer, next, count).fill(0)
      const high = new Int16Array(buffer, next + count * 2, count).fill(0)
      let highBits = 0
      weights.forEach((weight, i) => {
        // Assigning to a 16-bit lane keeps the low half as a signed number; the high half compensates for its sign.
        low[i] = weight
        high[i] = (weight + 0x8000) >> 16
        highBits |= high[i] ?? 0
      })
      records.set([first, next, next + count * 2, highBits === 0 ? 0 : next + count * 2], column * 4)
      next += count * 4
    })
    return { luma, strip, target, rowsPerStrip }
  }
}

/** The vertical pass: 8 rows of nine bytes. */
function verticalPass(narrow: Uint8Array, height: number): Uint8Array {
  const small = new Uint8Array(ROWS * COLUMNS)
  lanczosTaps(height, ROWS).forEach(({ first, weights }, row) => {
    for (let column = 0; column < COLUMNS; column++) {
      let sum = 1 << (PRECISION_BITS - 1)
      for (let i = 0, at = first * COLUMNS + column; i < weights.length; i++, at += COLUMNS) {
        sum = (sum + (narrow[at] ?? 0) * (weights[i] ?? 0)) | 0
      }
      small[row * COLUMNS + column] = Math.max(0, Math.min(255, sum >> PRECISION_BITS))
    }
  })
  return small
}

let horizontalPass: HorizontalPass | undefined

/**
 * The 64-bit difference hash of ImageHash's `dhash(image)`, bit for bit: 16 lower-case hex digits. Alpha is ignored.
 * @param pixels whose data holds at least `width * height * channels` bytes
 */
export function dhash(pixels: Pixels): string {
  horizontalPass ??= new HorizontalPass()
  const small = verticalPass(horizontalPass.run(pixels), pixels.height)
  let bits = 0n
  for (let row = 0; row < ROWS; row++) {
    for (let column = 1; column < COLUMNS; column++) {
      const at = row * COLUMNS + column
      bits = (bits << 1n) | ((small[at] ?? 0) > (small[at - 1] ?? 0) ? 1n : 0n)
    }
  }
  return bits.toString(16).padStart(16, '0')
}
