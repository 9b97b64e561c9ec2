import { colourTableBytes, gifBlocks, isGraphicControl } from '../../lib/image-metadata/index.ts'
import { lumaOf, type Pixels } from '../../lib/perceptual-hash/index.ts'

const TRANSPARENT_FLAG = 1
/** Disposal methods from here on clear what the frame covered. */
const RESTORE_TO_BACKGROUND = 2
const MAX_COLOURS = 256
const MAX_LZW_CODES = 4096
/** Hundredths of a second that decoders show a frame without a delay. */
const DEFAULT_DELAY = 10
/** 9-bit codes between two clear codes: the decoder's table then never grows to codes of 10 bits. */
const CODES_PER_TABLE = 254

interface Frame {
  /** Offset of its last graphic control extension; undefined if it has none. */
  readonly control: number | undefined
  /** Index of its transparent colour, from any of its graphic control extensions. */
  readonly transparent: number | undefined
  /** Offset of its image descriptor. */
  readonly start: number
  readonly end: number
  /** Offset of the LZW code size, before the sub-blocks. */
  readonly data: number
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly isInterlaced: boolean
  /** Its own colour table, else the global one. */
  readonly colours: Buffer
}

function* framesOf(gif: Buffer): Generator<Frame, undefined> {
  const globalColours = gif.subarray(13, 13 + colourTableBytes(gif[10] ?? 0))
  let control: number | undefined
  let transparent: number | undefined
  for (const block of gifBlocks(gif)) {
    const { type, start, end } = block
    if (isGraphicControl(gif, block)) {
      control = start
      if (((gif[start + 3] ?? 0) & TRANSPARENT_FLAG) !== 0) transparent = gif[start + 6]
    }
    if (type !== 'image' || start + 11 >= gif.length) continue
    const packed = gif[start + 9] ?? 0
    const data = start + 10 + colourTableBytes(packed)
    yield {
      control,
      transparent,
      start,
      end,
      data,
      left: gif.readUInt16LE(start + 1),
      top: gif.readUInt16LE(start + 3),
      width: gif.readUInt16LE(start + 5),
      height: gif.readUInt16LE(start + 7),
      isInterlaced: (packed & 0x40) !== 0,
      colours: data > start + 10 ? gif.subarray(start + 10, data) : globalColours,
    }
    control = undefined
    transparent = undefined
  }
}

/**
 * Luma of the first frame as Pillow decodes it: a transparent pixel has the colour of its index in the table, and what the
 * frame does not cover has the colour of the transparent index (of index 0 if there is none). Decoders with alpha lose these
 * colours. Undefined if that makes no difference, or if the frame exceeds the canvas.
 */
export function firstFrameLuma(gif: Buffer): Pixels | undefined {
  const [width, height] = [gif.readUInt16LE(6), gif.readUInt16LE(8)]
  const frame = framesOf(gif).next().value
  if (frame === undefined) return undefined
  const isWhole = frame.left === 0 && frame.top === 0 && frame.width === width && frame.height === height
  const isInside = frame.left + frame.width <= width && frame.top + frame.height <= height
  if (!isInside || (isWhole && frame.transparent === undefined)) return undefined
  const luma = Uint8Array.from({ length: MAX_COLOURS }, (_, index) => {
    if (frame.colours.length === 0) return index
    const [red = 0, green = 0, blue = 0] = frame.colours.subarray(index * 3, index * 3 + 3)
    return lumaOf(red, green, blue)
  })
  const data = new Uint8Array(width * height).fill(luma[frame.transparent ?? 0] ?? 0)
  const indices = decodeLzw(gif, frame.data, frame.width * frame.height)
  const rows = frame.isInterlaced ? interlacedRows(frame.height) : undefined
  for (let y = 0; y < frame.height; y++) {
    const start = (frame.top + (rows?.[y] ?? y)) * width + frame.left
    const from = y * frame.width
    for (let x = 0; x < frame.width && from + x < indices.length; x++) {
      data[start + x] = luma[indices[from + x] ?? 0] ?? 0
    }
  }
  return { data, width, height, channels: 1 }
}

/** Row numbers in the order in which an interlaced frame stores them. */
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

interface Edit {
  readonly from: number
  readonly to: number
  readonly bytes: Buffer
}

/**
 * Gives a transparent colour to frames that leave parts of the canvas uncovered or restore it to the background. Browsers
 * show these parts as transparent; the decoder does only if the frame has a transparent colour. The added colour is one that
 * no pixel uses. Returns the GIF itself if nothing has to change.
 */
export function addTransparency(gif: Buffer): Buffer {
  const [width, height] = [gif.readUInt16LE(6), gif.readUInt16LE(8)]
  const frames = [...framesOf(gif)]
  const edits = frames.flatMap((frame, i): Edit[] => {
    const packed = frame.control === undefined ? 0 : (gif[frame.control + 3] ?? 0)
    const isPartial = frame.left > 0 || frame.top > 0 || frame.width < width || frame.height < height
    const isCleared = ((packed >> 2) & 7) >= RESTORE_TO_BACKGROUND && i < frames.length - 1
    const needsTransparency = isCleared || (i === 0 && isPartial)
    return (packed & TRANSPARENT_FLAG) !== 0 || !needsTransparency
      ? []
      : transparencyEdits(gif, frame, packed)
  })
  if (edits.length === 0) return gif
  const parts: Buffer[] = []
  let at = 0
  for (const { from, to, bytes } of edits) {
    parts.push(gif.subarray(at, from), bytes)
    at = to
  }
  return Buffer.concat([...parts, gif.subarray(at)])
}

function transparencyEdits(gif: Buffer, frame: Frame, packed: number): Edit[] {
  const { control, start, end, data } = frame
  // With fewer than 8 bits, no pixel can have the last index.
  let transparent = MAX_COLOURS - 1
  let pixelEdit: Edit | undefined
  if ((gif[data] ?? 0) >= 8) {
    const indices = decodeLzw(gif, data, frame.width * frame.height)
    const counts = new Uint32Array(MAX_COLOURS)
    for (const index of indices) counts[index] = (counts[index] ?? 0) + 1
    transparent = counts.indexOf(Math.min(...counts))
    if ((counts[transparent] ?? 0) > 0) {
      // All are in use: the pixels of the rarest one get the most similar colour.
      const similar = mostSimilarColour(frame.colours, transparent)
      const replaced = indices.map((index) => (index === transparent ? similar : index))
      pixelEdit = { from: data, to: end, bytes: encodeLzw(replaced) }
    }
  }
  const settings = Buffer.from([packed | TRANSPARENT_FLAG, DEFAULT_DELAY, 0, transparent])
  if (control !== undefined) gif.copy(settings, 1, control + 4, control + 6)
  const controlEdit = {
    from: control ?? start,
    to: control === undefined ? start : control + 8,
    bytes: Buffer.concat([Buffer.from([0x21, 0xf9, 4]), settings, Buffer.of(0)]),
  }
  return pixelEdit === undefined ? [controlEdit] : [controlEdit, pixelEdit]
}

function mostSimilarColour(colours: Buffer, index: number): number {
  let best = index === 0 ? 1 : 0
  let least = Infinity
  for (let other = 0; other * 3 + 2 < colours.length; other++) {
    if (other === index) continue
    let distance = 0
    for (let i = 0; i < 3; i++)
      distance += ((colours[other * 3 + i] ?? 0) - (colours[index * 3 + i] ?? 0)) ** 2
    if (distance < least) [best, least] = [other, distance]
  }
  return best
}

/** Decodes variable-length LZW (GIF89a, appendix F): at most `count` indices, fewer if the data ends early. */
function decodeLzw(gif: Buffer, at: number, count: number): Uint8Array {
  const minimum = gif[at++] ?? 0
  const clear = 1 << minimum
  const prefix = new Uint16Array(MAX_LZW_CODES)
  const suffix = new Uint8Array(MAX_LZW_CODES)
  const stack = new Uint8Array(MAX_LZW_CODES + 1)
  const out = new Uint8Array(count)
  if (minimum < 1 || minimum > 8) return out.subarray(0, 0)
  for (let i = 0; i < clear; i++) suffix[i] = i
  let [next, size, previous, first, written, buffer, bits] = [clear + 2, minimum + 1, -1, 0, 0, 0, 0]
  for (let length = gif[at++] ?? 0; length > 0; length = gif[at++] ?? 0) {
    for (const end = Math.min(at + length, gif.length); at < end; at++) {
      buffer |= (gif[at] ?? 0) << bits
      bits += 8
      while (bits >= size) {
        let code = buffer & ((1 << size) - 1)
        buffer >>>= size
        bits -= size
        if (code === clear) {
          ;[next, size, previous] = [clear + 2, minimum + 1, -1]
          continue
        }
        if (code === clear + 1 || written >= count || code > next) return out.subarray(0, written)
        const current = code
        let depth = 0
        // The code that is being defined: the previous string and its own first index again.
        if (code === next) {
          stack[depth++] = first
          code = previous
        }
        while (code >= clear && depth < MAX_LZW_CODES) {
          stack[depth++] = suffix[code] ?? 0
          code = prefix[code] ?? 0
        }
        first = suffix[code] ?? 0
        stack[depth++] = first
        while (depth > 0 && written < count) out[written++] = stack[--depth] ?? 0
        if (previous >= 0 && next < MAX_LZW_CODES) {
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

/** Encodes indices as 9-bit LZW codes that refer to no strings: valid, but not compressed. */
function encodeLzw(indices: Uint8Array): Buffer {
  const clear = MAX_COLOURS
  const codes = indices.length + Math.ceil(indices.length / CODES_PER_TABLE) + 1
  const packed = Buffer.alloc(Math.ceil((codes * 9) / 8))
  let bit = 0
  // Written one by one: a list of the codes of a large frame does not fit into the heap of a decoder process.
  const write = (code: number): void => {
    const value = code << (bit & 7)
    packed[bit >>> 3] = (packed[bit >>> 3] ?? 0) | (value & 0xff)
    packed[(bit >>> 3) + 1] = value >> 8
    bit += 9
  }
  indices.forEach((index, i) => {
    if (i % CODES_PER_TABLE === 0) write(clear)
    write(index)
  })
  write(clear + 1)
  const parts: Buffer[] = [Buffer.of(8)]
  for (let at = 0; at < packed.length; at += 255) {
    const part = packed.subarray(at, at + 255)
    parts.push(Buffer.of(part.length), part)
  }
  return Buffer.concat([...parts, Buffer.of(0)])
}
