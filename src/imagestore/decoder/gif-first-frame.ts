import type { Pixels } from './dhash.ts'
import { colourTableBytes, skipSubBlocks } from './structure/gif.ts'

interface Frame {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly interlaced: boolean
  readonly transparent: number | undefined
  readonly colours: Buffer
  /** Where the LZW code size stands, its sub-blocks after it. */
  readonly data: number
}

const GRAPHIC_CONTROL = 0xf9
const IMAGE = 0x2c
const MAX_CODES = 4096

/**
 * Luma of a GIF's first frame as Pillow sees it: a transparent pixel has the colour that its index has in the table, and what the
 * frame leaves uncovered the colour of the transparent index (of index 0 when there is none). Decoders that give alpha lose those colours.
 * Undefined where that makes no difference, or where the frame leaves the canvas.
 */
export function gifFirstFrame(bytes: Buffer): Pixels | undefined {
  const width = bytes.readUInt16LE(6)
  const height = bytes.readUInt16LE(8)
  const frame = findFrame(bytes)
  if (frame === undefined) return undefined
  const covers = frame.left === 0 && frame.top === 0 && frame.width === width && frame.height === height
  const inside = frame.left + frame.width <= width && frame.top + frame.height <= height
  if (!inside || (covers && frame.transparent === undefined)) return undefined
  const luma = Uint8Array.from({ length: 256 }, (_, index) => lumaOf(frame.colours, index))
  const data = new Uint8Array(width * height).fill(luma[frame.transparent ?? 0] ?? 0)
  const indices = unpack(bytes, frame.data, frame.width * frame.height)
  const rows = frame.interlaced ? interlacedRows(frame.height) : undefined
  for (let y = 0; y < frame.height; y++) {
    const start = (frame.top + (rows?.[y] ?? y)) * width + frame.left
    const from = y * frame.width
    for (let x = 0; x < frame.width && from + x < indices.length; x++) {
      data[start + x] = luma[indices[from + x] ?? 0] ?? 0
    }
  }
  return { data, width, height, channels: 1 }
}

function lumaOf(colours: Buffer, index: number): number {
  if (colours.length === 0) return index
  const [red = 0, green = 0, blue = 0] = colours.subarray(index * 3, index * 3 + 3)
  return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >>> 16
}

function findFrame(bytes: Buffer): Frame | undefined {
  const globalBytes = colourTableBytes(bytes[10] ?? 0)
  let transparent: number | undefined
  let at = 13 + globalBytes
  while (at + 11 < bytes.length && bytes[at] !== IMAGE) {
    if (bytes[at + 1] === GRAPHIC_CONTROL && (bytes[at + 3] ?? 0) & 1) transparent = bytes[at + 6]
    at = skipSubBlocks(bytes, at + 2)
  }
  if (at + 11 >= bytes.length) return undefined
  const packed = bytes[at + 9] ?? 0
  const localBytes = colourTableBytes(packed)
  return {
    left: bytes.readUInt16LE(at + 1),
    top: bytes.readUInt16LE(at + 3),
    width: bytes.readUInt16LE(at + 5),
    height: bytes.readUInt16LE(at + 7),
    interlaced: (packed & 0x40) !== 0,
    transparent,
    colours:
      localBytes > 0 ? bytes.subarray(at + 10, at + 10 + localBytes) : bytes.subarray(13, 13 + globalBytes),
    data: at + 10 + localBytes,
  }
}

function interlacedRows(height: number): readonly number[] {
  const passes = [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const
  return passes.flatMap(([first, step]) =>
    Array.from({ length: Math.max(0, Math.ceil((height - first) / step)) }, (_, i) => first + i * step),
  )
}

/** Variable-length LZW (GIF89a, appendix F): at most `count` indices, fewer when the data end early. */
export function unpack(bytes: Buffer, at: number, count: number): Uint8Array {
  const minimum = bytes[at++] ?? 0
  const clear = 1 << minimum
  const prefix = new Uint16Array(MAX_CODES)
  const suffix = new Uint8Array(MAX_CODES)
  const stack = new Uint8Array(MAX_CODES + 1)
  const out = new Uint8Array(count)
  if (minimum < 1 || minimum > 8) return out.subarray(0, 0)
  for (let i = 0; i < clear; i++) suffix[i] = i
  let [next, size, previous, first, written, hold, held] = [clear + 2, minimum + 1, -1, 0, 0, 0, 0]
  for (let length = bytes[at++] ?? 0; length > 0; length = bytes[at++] ?? 0) {
    for (const end = Math.min(at + length, bytes.length); at < end; at++) {
      hold |= (bytes[at] ?? 0) << held
      held += 8
      while (held >= size) {
        let code = hold & ((1 << size) - 1)
        hold >>>= size
        held -= size
        if (code === clear) {
          ;[next, size, previous] = [clear + 2, minimum + 1, -1]
          continue
        }
        if (code === clear + 1 || written >= count || code > next) return out.subarray(0, written)
        const current = code
        let depth = 0
        // The code being defined right now: the previous string and its own first index once more.
        if (code === next) {
          stack[depth++] = first
          code = previous
        }
        while (code >= clear && depth < MAX_CODES) {
          stack[depth++] = suffix[code] ?? 0
          code = prefix[code] ?? 0
        }
        first = suffix[code] ?? 0
        stack[depth++] = first
        while (depth > 0 && written < count) out[written++] = stack[--depth] ?? 0
        if (previous >= 0 && next < MAX_CODES) {
          prefix[next] = previous
          suffix[next++] = first
          if (next === 1 << size && size < 12) size++
        }
        previous = current
      }
    }
  }
  return out.subarray(0, written)
}
