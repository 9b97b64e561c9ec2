/** Bytes of image files, as tests put them together. */

/** A directory entry of a TIFF, little-endian. */
export function tiffEntry(tag: number, type: number, count: number, value: number | string): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt16LE(tag)
  bytes.writeUInt16LE(type, 2)
  bytes.writeUInt32LE(count, 4)
  if (typeof value === 'string') bytes.write(value, 8)
  else bytes.writeUInt32LE(value, 8)
  return bytes
}

/** @param next offset of the next directory; 0 if there is none */
export function tiffDirectory(entries: readonly Buffer[], next = 0): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(2), ...entries, Buffer.alloc(4)])
  bytes.writeUInt16LE(entries.length)
  bytes.writeUInt32LE(next, bytes.length - 4)
  return bytes
}

/** The entries of the first directory of a little-endian TIFF. */
export function firstEntries(tiff: Buffer): Buffer[] {
  const at = tiff.readUInt32LE(4)
  return Array.from({ length: tiff.readUInt16LE(at) }, (_, i) =>
    tiff.subarray(at + 2 + i * 12, at + 14 + i * 12),
  )
}

/** Directories list their entries by tag. */
export const byTag = (one: Buffer, other: Buffer): number => one.readUInt16LE() - other.readUInt16LE()

export function jpegSegment(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}
