import { LAST_TIFF6_TYPE, VALUE_BYTES } from './tiff.ts'

/** What precedes the TIFF header of an EXIF block in JPEG. */
export const EXIF_IDENTIFIER = Buffer.from('Exif\0\0', 'latin1')
const ORIENTATION = 0x0112
const SHORT = 3
const LONG = 4
const HEADER_BYTES = 8
const BIG_TIFF = 43
const ENTRY_BYTES = 12
/** Tags that point to other directories: Exif, GPS, interoperability. */
const DIRECTORY_TAGS = new Set([34665, 34853, 40965])
/**
 * Tags that describe the pixels as they were stored, or hold other pictures: layout of a TIFF, orientation, thumbnails,
 * further directories, XMP, IPTC, Photoshop resources and layers, colour profile, print matching, size, maker notes.
 */
const DROPPED_TAGS = new Set([
  254, 255, 256, 257, 258, 259, 262, 263, 266, 273, 274, 277, 278, 279, 280, 281, 284, 290, 291, 292, 293,
  297, 301, 317, 320, 321, 322, 323, 324, 325, 330, 332, 334, 336, 338, 339, 340, 341, 347, 512, 513, 514,
  529, 530, 531, 532, 700, 33723, 34377, 34675, 37500, 37724, 40962, 40963, 50341,
])
const JPEG_SIGNATURE = Buffer.from([0xff, 0xd8, 0xff])
/** Texts, times and places are far smaller, previews in unknown tags are larger. */
const MAX_VALUE_BYTES = 4_096
const MAX_DEPTH = 3

interface Entry {
  readonly tag: number
  readonly type: number
  readonly count: number
  readonly value: Buffer | readonly Entry[]
}

/** What may still be read. Directories and values of a valid block do not overlap, so together they fit into it. */
interface ReadBudget {
  entries: number
  valueBytes: number
}

/** Accessors for numbers in one byte order. Numbers past the end read as 0. */
const numbersIn = (bytes: Buffer, isLittle: boolean) => ({
  short: (at: number) =>
    at + 2 > bytes.length ? 0 : isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at),
  long: (at: number) =>
    at + 4 > bytes.length ? 0 : isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at),
  setShort: (at: number, value: number) =>
    void (isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at)),
  setLong: (at: number, value: number) =>
    void (isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at)),
})

type Numbers = ReturnType<typeof numbersIn>

/** Undefined if the block does not begin with a TIFF header, or is a BigTIFF. */
function isLittleEndian(block: Buffer): boolean | undefined {
  const order = block.toString('latin1', 0, 2)
  if (block.length < HEADER_BYTES || (order !== 'II' && order !== 'MM')) return undefined
  const isLittle = order === 'II'
  return numbersIn(block, isLittle).short(2) === BIG_TIFF ? undefined : isLittle
}

/** Entries of the directory at `at` that lie within the block. */
const countEntries = (block: Buffer, numbers: Numbers, at: number): number =>
  Math.max(0, Math.min(numbers.short(at), Math.floor((block.length - at - 2) / ENTRY_BYTES)))

function* entriesAt(block: Buffer, numbers: Numbers, at: number): Generator<number> {
  const end = at + 2 + countEntries(block, numbers, at) * ENTRY_BYTES
  for (let entry = at + 2; entry < end; entry += ENTRY_BYTES) yield entry
}

/** An EXIF block from its TIFF header on. */
export const withoutIdentifier = (exif: Buffer): Buffer =>
  exif.subarray(0, EXIF_IDENTIFIER.length).equals(EXIF_IDENTIFIER)
    ? exif.subarray(EXIF_IDENTIFIER.length)
    : exif

/** The orientation in an EXIF block (from its TIFF header on): 1 to 8, and 1 if there is none. */
export function orientationOf(block: Buffer): number {
  const isLittle = isLittleEndian(block)
  if (isLittle === undefined) return 1
  const numbers = numbersIn(block, isLittle)
  for (const entry of entriesAt(block, numbers, numbers.long(4))) {
    if (numbers.short(entry) !== ORIENTATION) continue
    const value = numbers.short(entry + 8)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** Creates an EXIF block with an orientation and nothing else. */
export function exifWithOrientation(orientation: number): Buffer {
  const value = Buffer.alloc(4)
  value.writeUInt16LE(orientation)
  const header = Buffer.from('II*\0\x08\0\0\0', 'latin1')
  const entries = [{ tag: ORIENTATION, type: SHORT, count: 1, value }]
  return Buffer.concat([header, writeDirectory(entries, HEADER_BYTES, true)])
}

/**
 * Returns an EXIF block, from its TIFF header on, with the first directory and those below it. Drops the second
 * directory, which holds a thumbnail of the picture before it was cropped or edited, and everything else that may hold
 * pixels. Undefined if nothing is left. Takes linear time: entries that share values or directories are dropped where these
 * would be more than the block can hold.
 */
export function cleanExif(exif: Buffer): Buffer | undefined {
  const block = withoutIdentifier(exif)
  const isLittle = isLittleEndian(block)
  if (isLittle === undefined) return undefined
  const numbers = numbersIn(block, isLittle)
  const budget = { entries: Math.floor(block.length / ENTRY_BYTES), valueBytes: block.length }
  const directory = readDirectory(block, numbers, numbers.long(4), 0, budget)
  if (directory.length === 0) return undefined
  const header = Buffer.from(block.subarray(0, HEADER_BYTES))
  numbersIn(header, isLittle).setLong(4, HEADER_BYTES)
  return Buffer.concat([header, writeDirectory(directory, HEADER_BYTES, isLittle)])
}

function readDirectory(
  block: Buffer,
  numbers: Numbers,
  at: number,
  depth: number,
  budget: ReadBudget,
): Entry[] {
  const entries: Entry[] = []
  if (depth >= MAX_DEPTH) return entries
  for (const entry of entriesAt(block, numbers, at)) {
    if (--budget.entries < 0) return entries
    const tag = numbers.short(entry)
    if (DROPPED_TAGS.has(tag)) continue
    if (DIRECTORY_TAGS.has(tag)) {
      const value = readDirectory(block, numbers, numbers.long(entry + 8), depth + 1, budget)
      if (value.length > 0) entries.push({ tag, type: LONG, count: 1, value })
      continue
    }
    const type = numbers.short(entry + 2)
    const count = numbers.long(entry + 4)
    const size = type === 0 || type > LAST_TIFF6_TYPE ? 0 : (VALUE_BYTES[type] ?? 0) * count
    const start = size <= 4 ? entry + 8 : numbers.long(entry + 8)
    const value = block.subarray(start, start + size)
    if (size === 0 || size > Math.min(MAX_VALUE_BYTES, budget.valueBytes) || value.length < size) continue
    budget.valueBytes -= size
    if (value.includes(JPEG_SIGNATURE)) continue
    entries.push({ tag, type, count, value })
  }
  return entries
}

/** @param at offset of the directory in the block */
function writeDirectory(entries: readonly Entry[], at: number, isLittle: boolean): Buffer {
  const table = Buffer.alloc(2 + entries.length * ENTRY_BYTES + 4)
  const numbers = numbersIn(table, isLittle)
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
    const bytes = Buffer.isBuffer(value) ? value : writeDirectory(value, next, isLittle)
    // Values begin at even offsets.
    const padded = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)])
    values.push(padded)
    next += padded.length
  })
  return Buffer.concat([table, ...values])
}

/** The start of an element that holds pictures (thumbnails, previews, depth maps), with any prefix. */
const PICTURE_TAG = /<((?:[\w.-]+:)?(?:Thumbnails|image|Data|Preview|Thumbnail))\b[^<>]*>/g
/** The same as attributes. */
const PICTURE_ATTRIBUTE = /\s(?:[\w.-]+:)?(?:image|Data|Preview|Thumbnail)=(?:"[^"]*"|'[^']*')/g
/** Base64, with its line ends as they are or escaped. */
const BASE64_RUN = /(?:[A-Za-z0-9+/=\s]|&#x?[0-9a-fA-F]{1,4};)+/g
/** This much base64 in a row is not text. */
const MAX_BASE64_CHARACTERS = 2_000
/** White space at the end of a packet, reserved for edits. */
const PADDING = /\s{20,}/g
const MAX_XMP_BYTES = 64_000

/** Removes pictures from an XMP packet, in linear time. Undefined if some may be left. */
export function cleanXmp(xmp: Buffer): Buffer | undefined {
  if (xmp.length > MAX_XMP_BYTES * 2) return undefined
  const text = withoutPictureElements(xmp.toString('utf8'))
    ?.replace(PICTURE_ATTRIBUTE, '')
    .replace(PADDING, '\n')
  if (
    text === undefined ||
    text.match(BASE64_RUN)?.some((run) => run.length >= MAX_BASE64_CHARACTERS) === true
  )
    return undefined
  const clean = Buffer.from(text)
  return clean.length > MAX_XMP_BYTES ? undefined : clean
}

/** Undefined if such an element has no end. */
function withoutPictureElements(text: string): string | undefined {
  let result = ''
  let at = 0
  PICTURE_TAG.lastIndex = 0
  for (let tag = PICTURE_TAG.exec(text); tag !== null; tag = PICTURE_TAG.exec(text)) {
    result += text.slice(at, tag.index)
    at = PICTURE_TAG.lastIndex
    if (tag[0].endsWith('/>')) continue
    const endTag = `</${tag[1]}>`
    const end = text.indexOf(endTag, at)
    if (end < 0) return undefined
    at = end + endTag.length
    PICTURE_TAG.lastIndex = at
  }
  return result + text.slice(at)
}

const IPTC_RESOURCE = 0x0404
const RESOURCE_SIGNATURE = '8BIM'
const PHOTOSHOP_IDENTIFIER = 'Photoshop 3.0\0'
const MAX_IPTC_BYTES = 60_000

/**
 * Returns the content of a JPEG's APP13 segment with the IPTC resource only: other Photoshop resources hold thumbnails
 * (1033, 1036), paths and settings. Undefined if there is none.
 */
export function cleanIptc(resources: Buffer): Buffer | undefined {
  const hasIdentifier = resources.toString('latin1', 0, PHOTOSHOP_IDENTIFIER.length) === PHOTOSHOP_IDENTIFIER
  let at = hasIdentifier ? PHOTOSHOP_IDENTIFIER.length : 0
  while (at + 12 <= resources.length && resources.toString('latin1', at, at + 4) === RESOURCE_SIGNATURE) {
    // A name with its length before it, padded to an even number of bytes, then the size of the data.
    const sizeAt = at + 6 + toEven((resources[at + 6] ?? 0) + 1)
    if (sizeAt + 4 > resources.length) return undefined
    const start = sizeAt + 4
    const end = start + resources.readUInt32BE(sizeAt)
    if (end > resources.length) return undefined
    if (resources.readUInt16BE(at + 4) === IPTC_RESOURCE && end - start <= MAX_IPTC_BYTES) {
      const padding = Buffer.alloc(toEven(end) - end)
      const head = Buffer.from(`${PHOTOSHOP_IDENTIFIER}${RESOURCE_SIGNATURE}\x04\x04\0\0\0\0\0\0`, 'latin1')
      head.writeUInt32BE(end - start, head.length - 4)
      return Buffer.concat([head, resources.subarray(start, end), padding])
    }
    at = start + toEven(end - start)
  }
  return undefined
}

const toEven = (size: number): number => size + (size % 2)
