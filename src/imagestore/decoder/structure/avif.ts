import { incomplete, plain, type Structure } from './structure.ts'

/** Top-level boxes, each inside the file. What follows `meta` and the media data may be garbage. */
export function avifStructure(bytes: Buffer): Structure {
  const seen = new Set<string>()
  let at = 0
  while (at + 8 <= bytes.length) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    const size = boxSize(bytes, at)
    const whole = seen.has('meta') && seen.has('mdat')
    if (size === undefined || size < 8 || at + size > bytes.length) return whole ? plain : incomplete
    seen.add(type)
    at += size
  }
  return seen.has('meta') && (at === bytes.length || seen.has('mdat')) ? plain : incomplete
}

/** ISO/IEC 14496-12, 4.2: 0 means up to the file's end, 1 that a 64-bit size follows. */
function boxSize(bytes: Buffer, at: number): number | undefined {
  const size = bytes.readUInt32BE(at)
  if (size === 0) return bytes.length - at
  if (size !== 1) return size
  return at + 16 <= bytes.length ? Number(bytes.readBigUInt64BE(at + 8)) : undefined
}
