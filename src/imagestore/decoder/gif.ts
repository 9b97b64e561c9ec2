import sharp from 'sharp'
import { colourTableBytes, gifBlocks, isGraphicControl } from '../../lib/image-metadata/index.ts'
import { lumaOf, type Pixels } from '../../lib/perceptual-hash/index.ts'

const IMAGE_SEPARATOR = 0x2c
const TRAILER = 0x3b
const TRANSPARENT_FLAG = 1
const INTERLACED_FLAG = 0x40
/** Disposal methods from here on clear what the frame covered. */
const RESTORE_TO_BACKGROUND = 2
const MAX_COLOURS = 256
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

/** Pixels of the logical screen. libvips ignores a screen that it takes for a mistake, and reports the size of the frames. */
export const gifScreenPixels = (gif: Buffer): number => gif.readUInt16LE(6) * gif.readUInt16LE(8)

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
      isInterlaced: (packed & INTERLACED_FLAG) !== 0,
      colours: data > start + 10 ? gif.subarray(start + 10, data) : globalColours,
    }
    control = undefined
    transparent = undefined
  }
}

/** A table in which the colour of each index is that shade of gray. */
const GRAYS = Buffer.from(Array.from({ length: MAX_COLOURS }, (_, index) => [index, index, index]).flat())

/**
 * The colour index of each pixel of a frame. Decodes a GIF of this frame alone, whose colours are the indices.
 * @param maxPixels rejects if the frame has more
 */
async function indicesOf(gif: Buffer, frame: Frame, maxPixels: number): Promise<Uint8Array> {
  const { data, end, width, height, isInterlaced } = frame
  const screen = Buffer.from('GIF89a\0\0\0\0\xf7\0\0', 'latin1')
  const descriptor = Buffer.alloc(10)
  descriptor[0] = IMAGE_SEPARATOR
  descriptor[9] = isInterlaced ? INTERLACED_FLAG : 0
  for (const [bytes, at] of [
    [screen, 6],
    [descriptor, 5],
  ] as const) {
    bytes.writeUInt16LE(width, at)
    bytes.writeUInt16LE(height, at + 2)
  }
  const alone = Buffer.concat([screen, GRAYS, descriptor, gif.subarray(data, end), Buffer.of(TRAILER)])
  return sharp(alone, { failOn: 'none', limitInputPixels: maxPixels }).extractChannel(0).raw().toBuffer()
}

/**
 * Luma of the first frame as Pillow decodes it: a transparent pixel has the colour of its index in the table, and what the
 * frame does not cover has the colour of the transparent index (of index 0 if there is none). Decoders with alpha lose these
 * colours. Undefined if that makes no difference, or if the frame exceeds the canvas.
 */
export async function firstFrameLuma(gif: Buffer, maxPixels: number): Promise<Pixels | undefined> {
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
  const indices = await indicesOf(gif, frame, maxPixels)
  for (let y = 0; y < frame.height; y++) {
    const start = (frame.top + y) * width + frame.left
    const from = y * frame.width
    for (let x = 0; x < frame.width; x++) data[start + x] = luma[indices[from + x] ?? 0] ?? 0
  }
  return { data, width, height, channels: 1 }
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
export async function addTransparency(gif: Buffer, maxPixels: number): Promise<Buffer> {
  const [width, height] = [gif.readUInt16LE(6), gif.readUInt16LE(8)]
  const frames = [...framesOf(gif)]
  const edits: Edit[] = []
  for (const [i, frame] of frames.entries()) {
    const packed = frame.control === undefined ? 0 : (gif[frame.control + 3] ?? 0)
    const isPartial = frame.left > 0 || frame.top > 0 || frame.width < width || frame.height < height
    const isCleared = ((packed >> 2) & 7) >= RESTORE_TO_BACKGROUND && i < frames.length - 1
    const needsTransparency = isCleared || (i === 0 && isPartial)
    if ((packed & TRANSPARENT_FLAG) === 0 && needsTransparency)
      edits.push(...(await transparencyEdits(gif, frame, packed, maxPixels)))
  }
  if (edits.length === 0) return gif
  const parts: Buffer[] = []
  let at = 0
  for (const { from, to, bytes } of edits) {
    parts.push(gif.subarray(at, from), bytes)
    at = to
  }
  return Buffer.concat([...parts, gif.subarray(at)])
}

async function transparencyEdits(
  gif: Buffer,
  frame: Frame,
  packed: number,
  maxPixels: number,
): Promise<Edit[]> {
  const { control, start, end, data, colours } = frame
  // With fewer than 8 bits, no pixel can have the last index.
  let transparent = MAX_COLOURS - 1
  const pixelEdits: Edit[] = []
  if ((gif[data] ?? 0) >= 8) {
    const indices = await indicesOf(gif, frame, maxPixels)
    const counts = new Uint32Array(MAX_COLOURS)
    for (const index of indices) counts[index] = (counts[index] ?? 0) + 1
    transparent = counts.indexOf(Math.min(...counts))
    if ((counts[transparent] ?? 0) > 0) {
      // All are in use: the pixels of the rarest one get the most similar colour.
      const similar = mostSimilarColour(colours, transparent)
      const replaced = indices.map((index) => (index === transparent ? similar : index))
      const flags = Buffer.of((gif[start + 9] ?? 0) & ~INTERLACED_FLAG)
      pixelEdits.push({ from: start + 9, to: start + 10, bytes: flags })
      pixelEdits.push({ from: data, to: end, bytes: encodeLzw(replaced) })
    }
  }
  const settings = Buffer.from([packed | TRANSPARENT_FLAG, DEFAULT_DELAY, 0, transparent])
  if (control !== undefined) gif.copy(settings, 1, control + 4, control + 6)
  const controlEdit = {
    from: control ?? start,
    to: control === undefined ? start : control + 8,
    bytes: Buffer.concat([Buffer.from([0x21, 0xf9, 4]), settings, Buffer.of(0)]),
  }
  return [controlEdit, ...pixelEdits]
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
