import { unpack } from './gif-first-frame.ts'
import { colourTableBytes, skipSubBlocks } from './structure/gif.ts'

const EXTENSION = 0x21
const GRAPHIC_CONTROL = 0xf9
const IMAGE = 0x2c
const TRANSPARENT_FLAG = 1
const TO_BACKGROUND = 2
const INDICES = 256
/** Hundredths of a second that decoders give a frame that says nothing. */
const USUAL_DELAY = 10
/** Codes of 9 bits between two clear codes: the decoder's table is then never large enough for codes of 10. */
const CODES_A_TABLE = 254

interface Frame {
  /** Where its graphic control extension begins; undefined where it has none. */
  readonly control: number | undefined
  /** Where its image descriptor begins, and its data end. */
  readonly start: number
  readonly end: number
}

interface Edit {
  readonly from: number
  readonly to: number
  readonly bytes: Buffer
}

/**
 * The GIF with a transparent colour in frames that leave parts of the canvas uncovered or restore it to the background. Browsers
 * show these parts as transparent. The decoder paints them, unless the frame has a transparent colour; one that no pixel of
 * the frame has makes no other difference. Without a copy where nothing is to be changed.
 */
export function withTransparency(gif: Buffer): Buffer {
  const [width, height] = [gif.readUInt16LE(6), gif.readUInt16LE(8)]
  const frames = framesOf(gif)
  const edits = frames.flatMap((frame, i): Edit[] => {
    const { control, start } = frame
    const packed = control === undefined ? 0 : (gif[control + 3] ?? 0)
    const isPartial =
      gif.readUInt16LE(start + 1) > 0 ||
      gif.readUInt16LE(start + 3) > 0 ||
      gif.readUInt16LE(start + 5) < width ||
      gif.readUInt16LE(start + 7) < height
    const isBared = ((packed >> 2) & 7) >= TO_BACKGROUND && i < frames.length - 1
    if ((packed & TRANSPARENT_FLAG) !== 0 || !(isBared || (i === 0 && isPartial))) return []
    return editsFor(gif, frame, packed)
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

function framesOf(gif: Buffer): Frame[] {
  const frames: Frame[] = []
  let control: number | undefined
  let at = 13 + colourTableBytes(gif[10] ?? 0)
  while (at + 11 < gif.length) {
    if (gif[at] === EXTENSION) {
      if (gif[at + 1] === GRAPHIC_CONTROL) control = at
      at = skipSubBlocks(gif, at + 2)
    } else if (gif[at] === IMAGE) {
      const end = skipSubBlocks(gif, at + 11 + colourTableBytes(gif[at + 9] ?? 0))
      frames.push({ control, start: at, end })
      control = undefined
      at = end
    } else break
  }
  return frames
}

function editsFor(gif: Buffer, { control, start, end }: Frame, packed: number): Edit[] {
  const data = start + 10 + colourTableBytes(gif[start + 9] ?? 0)
  // Of fewer bits than eight, no pixel can have the last index.
  let transparent = INDICES - 1
  let coded: Edit | undefined
  if ((gif[data] ?? 0) >= 8) {
    const indices = unpack(gif, data, gif.readUInt16LE(start + 5) * gif.readUInt16LE(start + 7))
    const counts = new Uint32Array(INDICES)
    for (const index of indices) counts[index] = (counts[index] ?? 0) + 1
    transparent = counts.indexOf(Math.min(...counts))
    if ((counts[transparent] ?? 0) > 0) {
      // All are in use: the pixels of the rarest take the most similar colour instead.
      const colours = coloursOf(gif, start)
      const similar = mostSimilar(colours, transparent)
      coded = {
        from: data,
        to: end,
        bytes: encode(indices.map((index) => (index === transparent ? similar : index))),
      }
    }
  }
  const settings = Buffer.from([packed | TRANSPARENT_FLAG, USUAL_DELAY, 0, transparent])
  if (control !== undefined) gif.copy(settings, 1, control + 4, control + 6)
  const extension = Buffer.concat([Buffer.from([EXTENSION, GRAPHIC_CONTROL, 4]), settings, Buffer.of(0)])
  const announced = {
    from: control ?? start,
    to: control === undefined ? start : control + 8,
    bytes: extension,
  }
  return coded === undefined ? [announced] : [announced, coded]
}

function coloursOf(gif: Buffer, start: number): Buffer {
  const local = colourTableBytes(gif[start + 9] ?? 0)
  const at = local > 0 ? start + 10 : 13
  return gif.subarray(at, at + (local || colourTableBytes(gif[10] ?? 0)))
}

function mostSimilar(colours: Buffer, index: number): number {
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

/** Indices as LZW data of 9-bit codes that refer to no string: valid, and not compressed. */
function encode(indices: Uint8Array): Buffer {
  const clear = INDICES
  const codes: number[] = []
  indices.forEach((index, i) => {
    if (i % CODES_A_TABLE === 0) codes.push(clear)
    codes.push(index)
  })
  codes.push(clear + 1)
  const packed = Buffer.alloc(Math.ceil((codes.length * 9) / 8))
  codes.forEach((code, i) => {
    const bit = i * 9
    const value = code << (bit & 7)
    packed[bit >> 3] = (packed[bit >> 3] ?? 0) | (value & 0xff)
    packed[(bit >> 3) + 1] = value >> 8
  })
  const parts: Buffer[] = [Buffer.of(8)]
  for (let at = 0; at < packed.length; at += 255) {
    const part = packed.subarray(at, at + 255)
    parts.push(Buffer.of(part.length), part)
  }
  return Buffer.concat([...parts, Buffer.of(0)])
}
