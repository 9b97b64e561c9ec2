import { dhashWasm } from './dhash-wasm.ts'
import { lanczosTaps, PRECISION_BITS, type Taps } from './lanczos.ts'

/** Interleaved 8-bit samples, no padding between rows: 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha. */
export interface Pixels {
  readonly data: Uint8Array
  readonly width: number
  readonly height: number
  readonly channels: 1 | 2 | 3 | 4
}

const COLUMNS = 9
const ROWS = 8
/** Pixels are copied into WebAssembly in strips of about this many bytes, so that its memory stays small for any image. */
const STRIP_BYTES = 512 * 1024
/** The vector loops read up to this many bytes past a row. */
const SLACK = 128
const PAGE = 65536
/** Vectors that the kernel expects at the start of its memory; assembly/dhash.ts says what each is for. */
const VECTORS = [
  // How four RGB pixels spread to four bytes each (an index past 15 gives 0), as little-endian pairs.
  [0x0100, 0xff02, 0x0403, 0xff05, 0x0706, 0xff08, 0x0a09, 0xff0b],
  [19595, 7471, 19595, 7471, 19595, 7471, 19595, 7471],
  [19235, 0, 19235, 0, 19235, 0, 19235, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x8000, 0, 0x8000, 0, 0x8000, 0, 0x8000, 0],
].flat()
const TABLE = VECTORS.length * 2
const WEIGHTS = TABLE + COLUMNS * 16

interface Kernel {
  rows(
    source: number,
    channels: number,
    width: number,
    count: number,
    table: number,
    luma: number,
    target: number,
  ): void
}

const memory = new WebAssembly.Memory({ initial: 1 })
new Uint16Array(memory.buffer).set(VECTORS)
const kernel = instantiate()

function instantiate(): Kernel {
  const module = new WebAssembly.Module(Buffer.from(dhashWasm, 'base64'))
  // The edge to foreign code: WebAssembly exports carry no types. scripts/build-wasm.ts makes these bytes.
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernel
}

const align = (offset: number): number => (offset + 15) & ~15

interface Layout {
  readonly luma: number
  readonly strip: number
  readonly target: number
  readonly rowsPerStrip: number
}

/** Places everything in the module's memory, growing it as needed, and writes the weights of the horizontal pass. */
function prepare(width: number, height: number, channels: number, taps: readonly Taps[]): Layout {
  const padded = taps.map(({ weights }) => (weights.length + 31) & ~31)
  const high = padded.reduce((sum, count) => sum + count * 4, 0)
  const luma = align(WEIGHTS + high)
  const strip = align(luma + width * 2 + SLACK)
  const rowsPerStrip = Math.min(height, Math.max(1, Math.floor(STRIP_BYTES / (width * channels))))
  const target = align(strip + rowsPerStrip * width * channels + SLACK)
  const missing = target + rowsPerStrip * COLUMNS - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE))

  const records = new Int32Array(memory.buffer, TABLE, COLUMNS * 4)
  let next = WEIGHTS
  taps.forEach(({ first, weights }, column) => {
    const count = padded[column] ?? 0
    const low = new Int16Array(memory.buffer, next, count).fill(0)
    const upper = new Int16Array(memory.buffer, next + count * 2, count).fill(0)
    let wide = 0
    weights.forEach((weight, i) => {
      // Assigning to a 16-bit lane keeps the low half as a signed number; the high half makes up for its sign.
      low[i] = weight
      upper[i] = (weight + 0x8000) >> 16
      wide |= upper[i] ?? 0
    })
    records.set([first, next, next + count * 2, wide === 0 ? 0 : next + count * 2], column * 4)
    next += count * 4
  })
  return { luma, strip, target, rowsPerStrip }
}

/** The horizontal pass: `height` rows of nine bytes. */
function horizontal({ data, width, height, channels }: Pixels): Uint8Array {
  const { luma, strip, target, rowsPerStrip } = prepare(width, height, channels, lanczosTaps(width, COLUMNS))
  const heap = new Uint8Array(memory.buffer)
  const narrow = new Uint8Array(height * COLUMNS)
  for (let y = 0; y < height; y += rowsPerStrip) {
    const count = Math.min(rowsPerStrip, height - y)
    heap.set(data.subarray(y * width * channels, (y + count) * width * channels), strip)
    kernel.rows(strip, channels, width, count, TABLE, luma, target)
    narrow.set(heap.subarray(target, target + count * COLUMNS), y * COLUMNS)
  }
  return narrow
}

const clamp = (sum: number): number => Math.max(0, Math.min(255, sum >> PRECISION_BITS))

/** The vertical pass: 8 rows of nine bytes. */
function vertical(narrow: Uint8Array, height: number): Uint8Array {
  const small = new Uint8Array(ROWS * COLUMNS)
  lanczosTaps(height, ROWS).forEach(({ first, weights }, row) => {
    for (let column = 0; column < COLUMNS; column++) {
      let sum = 1 << (PRECISION_BITS - 1)
      for (let i = 0, at = first * COLUMNS + column; i < weights.length; i++, at += COLUMNS) {
        sum = (sum + (narrow[at] ?? 0) * (weights[i] ?? 0)) | 0
      }
      small[row * COLUMNS + column] = clamp(sum)
    }
  })
  return small
}

/**
 * The 64-bit difference hash of ImageHash's `dhash(image)`, bit for bit: 16 lower-case hex digits.
 * Alpha is ignored. `data` must hold at least `width * height * channels` bytes.
 */
export function dhash(pixels: Pixels): string {
  const small = vertical(horizontal(pixels), pixels.height)
  let bits = 0n
  for (let row = 0; row < ROWS; row++) {
    for (let column = 1; column < COLUMNS; column++) {
      const at = row * COLUMNS + column
      bits = (bits << 1n) | ((small[at] ?? 0) > (small[at - 1] ?? 0) ? 1n : 0n)
    }
  }
  return bits.toString(16).padStart(16, '0')
}
