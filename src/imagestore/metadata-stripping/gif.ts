import { colourTableBytes, skipSubBlocks } from '../decoder/structure/gif.ts'

const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b
const GRAPHIC_CONTROL = 0xf9
const APPLICATION = 0xff
/** How often an animation is repeated, and its colour profile. */
const KEPT = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0', 'ICCRGBG1012'])

export function stripGif(bytes: Buffer): Buffer | undefined {
  let at = 13 + colourTableBytes(bytes[10] ?? 0)
  const parts: Buffer[] = [bytes.subarray(0, at)]
  while (at < bytes.length) {
    const block = bytes[at]
    if (block === TRAILER) return Buffer.concat([...parts, bytes.subarray(at, at + 1)])
    if (block === EXTENSION) {
      const end = skipSubBlocks(bytes, at + 2)
      const label = bytes[at + 1]
      const isKept =
        label === GRAPHIC_CONTROL ||
        (label === APPLICATION && KEPT.has(bytes.toString('latin1', at + 3, at + 14)))
      if (isKept) parts.push(bytes.subarray(at, end))
      at = end
    } else if (block === IMAGE) {
      const end = skipSubBlocks(bytes, at + 11 + colourTableBytes(bytes[at + 9] ?? 0))
      parts.push(bytes.subarray(at, end))
      at = end
    } else return undefined
  }
  return undefined
}
