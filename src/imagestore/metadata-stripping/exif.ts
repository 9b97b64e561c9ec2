const ORIENTATION = 0x0112
const SHORT = 3

/** The orientation that an EXIF block (from its TIFF header on) tells: 1 to 8; 1 when it tells none. */
export function orientationOf(exif: Buffer): number {
  const little = exif.toString('latin1', 0, 2) === 'II'
  if (exif.length < 8 || (!little && exif.toString('latin1', 0, 2) !== 'MM')) return 1
  const short = (at: number): number => (little ? exif.readUInt16LE(at) : exif.readUInt16BE(at))
  const directory = little ? exif.readUInt32LE(4) : exif.readUInt32BE(4)
  if (directory + 2 > exif.length) return 1
  const end = Math.min(exif.length - 12, directory + 2 + 12 * (short(directory) - 1))
  for (let entry = directory + 2; entry <= end; entry += 12) {
    if (short(entry) !== ORIENTATION) continue
    const value = short(entry + 8)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** An EXIF block that tells an orientation and nothing else. */
export function exifOf(orientation: number): Buffer {
  const exif = Buffer.alloc(26)
  exif.write('II*\0', 'latin1')
  exif.writeUInt32LE(8, 4)
  exif.writeUInt16LE(1, 8)
  exif.writeUInt16LE(ORIENTATION, 10)
  exif.writeUInt16LE(SHORT, 12)
  exif.writeUInt32LE(1, 14)
  exif.writeUInt16LE(orientation, 18)
  return exif
}
