/**
 * Tags of what is needed to show the picture (TIFF 6.0 and its usual additions), the orientation and the colour profile among
 * them. All others go: Exif, GPS, XMP, IPTC, descriptions, makers' own.
 */
const KEPT = new Set([
  254, 255, 256, 257, 258, 259, 262, 263, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 290, 291,
  292, 293, 296, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 332, 334, 336, 338, 339, 340, 341,
  347, 529, 530, 531, 532, 34675,
])
const ENTRY_BYTES = 12
const MAX_DIRECTORIES = 4_096
const VALUE_BYTES = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
/** Tags whose value is where another directory lies. */
const DIRECTORIES = new Set([34665, 34853, 40965])

/** In place: entries are taken out of the directories, and what they pointed to becomes zeros. BigTIFF is not read. */
export function stripTiff(original: Buffer): Buffer | undefined {
  const bytes = Buffer.from(original)
  const little = bytes[0] === 0x49
  const short = (at: number): number => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at))
  const long = (at: number): number => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at))
  if (bytes.length < 8 || short(2) !== 42) return undefined
  let directory = long(4)
  for (let i = 0; directory !== 0; i++) {
    if (i === MAX_DIRECTORIES || directory + 2 > bytes.length) return undefined
    const count = short(directory)
    const end = directory + 2 + count * ENTRY_BYTES
    if (end + 4 > bytes.length) return undefined
    const next = Buffer.from(bytes.subarray(end, end + 4))
    const nextDirectory = long(end)
    const kept: Buffer[] = []
    for (let entry = directory + 2; entry < end; entry += ENTRY_BYTES) {
      if (KEPT.has(short(entry))) kept.push(Buffer.from(bytes.subarray(entry, entry + ENTRY_BYTES)))
      else if (!clear(entry)) return undefined
    }
    bytes.fill(0, directory, end + 4)
    if (little) bytes.writeUInt16LE(kept.length, directory)
    else bytes.writeUInt16BE(kept.length, directory)
    Buffer.concat([...kept, next]).copy(bytes, directory + 2)
    directory = nextDirectory
  }
  return bytes

  /** Makes zeros of what an entry points to. */
  function clear(entry: number): boolean {
    const size = (VALUE_BYTES[short(entry + 2)] ?? 1) * long(entry + 4)
    const at = long(entry + 8)
    if (DIRECTORIES.has(short(entry))) return clearDirectory(at)
    if (size <= 4) return true
    if (at + size > bytes.length) return false
    bytes.fill(0, at, at + size)
    return true
  }

  function clearDirectory(at: number): boolean {
    if (at + 2 > bytes.length) return false
    const end = at + 2 + short(at) * ENTRY_BYTES
    if (end > bytes.length) return false
    for (let entry = at + 2; entry < end; entry += ENTRY_BYTES) {
      // None of them holds directories of its own but one, of which only a name is known.
      const size = (VALUE_BYTES[short(entry + 2)] ?? 1) * long(entry + 4)
      const value = long(entry + 8)
      if (size > 4 && value + size <= bytes.length) bytes.fill(0, value, value + size)
    }
    bytes.fill(0, at, end)
    return true
  }
}
