import { incomplete, plain, type Structure } from './structure.ts'

const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b

/** Bytes of a colour table, from the packed field that announces it. */
export const colourTableBytes = (packed: number): number => (packed & 0x80 ? 3 << ((packed & 7) + 1) : 0)

/** First byte after the sub-blocks at `at`, past the file's end when they do. */
export function skipSubBlocks(bytes: Buffer, at: number): number {
  let length = bytes[at]
  while (length !== undefined && length !== 0) {
    at += length + 1
    length = bytes[at]
  }
  return at + 1
}

/** Blocks up to the trailer. */
export function gifStructure(bytes: Buffer): Structure {
  let at = 13 + colourTableBytes(bytes[10] ?? 0)
  while (at < bytes.length) {
    const block = bytes[at]
    if (block === TRAILER) return plain
    if (block === EXTENSION) at = skipSubBlocks(bytes, at + 2)
    else if (block === IMAGE) at = skipSubBlocks(bytes, at + 11 + colourTableBytes(bytes[at + 9] ?? 0))
    else return incomplete
  }
  return incomplete
}
