import { incomplete, plain, type Structure } from './structure.ts'

const COLOUR_GRAY = 0

/** Chunks up to IEND; libpng checks the sums of those it reads. */
export function pngStructure(bytes: Buffer): Structure {
  if (bytes.length < 33) return incomplete
  let at = 8
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length) return incomplete
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') {
      return {
        ...plain,
        buffered: bytes[28] === 1,
        clipsGray: bytes[24] === 16 && bytes[25] === COLOUR_GRAY,
      }
    }
    at = end
  }
  return incomplete
}
