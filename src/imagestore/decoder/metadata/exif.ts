/** Tags that lead to other directories: Exif, GPS, interoperability. */
const DIRECTORIES = new Set([34665, 34853, 40965])
/**
 * Tags that belong to the pixels as they were stored or hold other pictures: how a TIFF is laid out, orientation, thumbnails,
 * further directories, XMP, IPTC, Photoshop's resources and layers, colour profile, print matching, size, makers' notes.
 */
const LEFT_OUT = new Set([
  254, 255, 256, 257, 258, 259, 262, 266, 273, 274, 277, 278, 279, 284, 301, 317, 320, 322, 323, 324, 325,
  330, 338, 339, 347, 512, 513, 514, 529, 530, 531, 532, 700, 33723, 34377, 34675, 37500, 37724, 40962, 40963,
  50341,
])
const VALUE_BYTES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8]
const JPEG_BEGIN = Buffer.from([0xff, 0xd8, 0xff])
/** Texts, times and places are far below; previews in unknown tags are above. */
const MAX_VALUE_BYTES = 4_096
const MAX_DEPTH = 3
const HEADER_BYTES = 8
const ENTRY_BYTES = 12
const LONG = 4

interface Entry {
  readonly tag: number
  readonly type: number
  readonly count: number
  readonly value: Buffer | Directory
}
type Directory = readonly Entry[]

/**
 * An EXIF block, from its TIFF header on, with the first directory of this one and those under it. The second directory, which holds
 * a thumbnail of the picture before it was cropped or edited, is left out with everything else that may hold pixels. Undefined when nothing is left.
 */
export function cleanExif(exif: Buffer): Buffer | undefined {
  const block = exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif
  const order = block.toString('latin1', 0, 2)
  if (block.length < HEADER_BYTES || (order !== 'II' && order !== 'MM')) return undefined
  const numbers = numbersIn(block, order === 'II')
  const directory = readDirectory(block, numbers, numbers.long(4), 0)
  if (directory.length === 0) return undefined
  const header = Buffer.from(block.subarray(0, HEADER_BYTES))
  numbersIn(header, order === 'II').setLong(4, HEADER_BYTES)
  return Buffer.concat([header, writeDirectory(directory, HEADER_BYTES, order === 'II')])
}

interface Numbers {
  short(at: number): number
  long(at: number): number
  setShort(at: number, value: number): void
  setLong(at: number, value: number): void
}

/** Numbers past the end are 0. */
function numbersIn(bytes: Buffer, little: boolean): Numbers {
  return {
    short: (at) => (at + 2 > bytes.length ? 0 : little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)),
    long: (at) => (at + 4 > bytes.length ? 0 : little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)),
    setShort: (at, value) => void (little ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at)),
    setLong: (at, value) => void (little ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at)),
  }
}

function readDirectory(block: Buffer, numbers: Numbers, at: number, depth: number): Directory {
  const entries: Entry[] = []
  if (depth >= MAX_DEPTH || at + 2 > block.length) return entries
  const end = Math.min(block.length, at + 2 + numbers.short(at) * ENTRY_BYTES)
  for (let entry = at + 2; entry + ENTRY_BYTES <= end; entry += ENTRY_BYTES) {
    const tag = numbers.short(entry)
    if (LEFT_OUT.has(tag)) continue
    if (DIRECTORIES.has(tag)) {
      const value = readDirectory(block, numbers, numbers.long(entry + 8), depth + 1)
      if (value.length > 0) entries.push({ tag, type: LONG, count: 1, value })
      continue
    }
    const type = numbers.short(entry + 2)
    const count = numbers.long(entry + 4)
    const size = (VALUE_BYTES[type] ?? 0) * count
    const start = size <= 4 ? entry + 8 : numbers.long(entry + 8)
    const value = block.subarray(start, start + size)
    if (size === 0 || size > MAX_VALUE_BYTES || value.length < size || value.includes(JPEG_BEGIN)) continue
    entries.push({ tag, type, count, value })
  }
  return entries
}

/** @param at where in the block it comes to stand */
function writeDirectory(entries: Directory, at: number, little: boolean): Buffer {
  const table = Buffer.alloc(2 + entries.length * ENTRY_BYTES + 4)
  const numbers = numbersIn(table, little)
  numbers.setShort(0, entries.length)
  const values: Buffer[] = []
  let next = at + table.length
  entries.forEach(({ tag, type, count, value }, i) => {
    const entry = 2 + i * ENTRY_BYTES
    numbers.setShort(entry, tag)
    numbers.setShort(entry + 2, type)
    numbers.setLong(entry + 4, count)
    if (Buffer.isBuffer(value) && value.length <= 4) {
      value.copy(table, entry + 8)
      return
    }
    numbers.setLong(entry + 8, next)
    const bytes = Buffer.isBuffer(value) ? value : writeDirectory(value, next, little)
    // Values begin at even places.
    const padded = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)])
    values.push(padded)
    next += padded.length
  })
  return Buffer.concat([table, ...values])
}
