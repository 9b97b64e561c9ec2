import { incomplete, plain, type Structure } from './structure.ts'

const START_OF_SCAN = 0xda
const END_OF_IMAGE = Buffer.from([0xff, 0xd9])
const PROGRESSIVE = new Set([0xc2, 0xc6, 0xca, 0xce])
const STANDALONE = new Set([0x01, 0xd8, ...Array.from({ length: 8 }, (_, i) => 0xd0 + i)])

/** Segments up to the first scan, then the end mark: coded data never holds FF D9, a thumbnail before the scan may. */
export function jpegStructure(bytes: Buffer): Structure {
  let buffered = false
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) {
      at++
      continue
    }
    const marker = bytes[at + 1] ?? 0
    // From behind: of whole files nearly all end with the mark.
    if (marker === START_OF_SCAN)
      return { ...plain, complete: bytes.lastIndexOf(END_OF_IMAGE) > at, buffered }
    if (PROGRESSIVE.has(marker)) buffered = true
    if (marker === 0xff) at++
    else if (STANDALONE.has(marker)) at += 2
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return incomplete
}
