import { complete, ErasedRanges, truncated, type Structure } from './container.ts'

const CLASSIC = 42
const BIG = 43
/** Bytes of one value by field type. Types that do not exist count as one byte; those from 13 on came after TIFF 6.0. */
export const VALUE_BYTES: readonly number[] = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8]
export const LAST_TIFF6_TYPE = 12

/** Tags that are needed to show the picture (TIFF 6.0 and its usual additions), including orientation and colour profile. */
const KEPT_TAGS = new Set([
  254, 255, 256, 257, 258, 259, 262, 263, 266, 273, 274, 277, 278, 279, 280, 281, 282, 283, 284, 290, 291,
  292, 293, 296, 297, 301, 317, 318, 319, 320, 321, 322, 323, 324, 325, 332, 334, 336, 338, 339, 340, 341,
  347, 529, 530, 531, 532, 34675,
])
/** Tags that point to other directories: sub-images, Exif, GPS, interoperability. */
const DIRECTORY_TAGS = new Set([330, 34665, 34853, 40965])
/** Tags for offsets and lengths of the pixels of a sub-image: strips, tiles, old-style JPEG. */
const PIXEL_TAGS = [
  [273, 279],
  [324, 325],
  [513, 514],
] as const

interface Directory {
  readonly entries: readonly number[]
  /** Offset of the field that points to the next directory. */
  readonly end: number
}

/**
 * Reads fields of TIFF 6.0 and BigTIFF, which differ in their widths. Throws a RangeError past the end of the file, and when
 * directories and arrays of numbers together are larger than the file: these overlap, or form a loop.
 */
class TiffReader {
  readonly offsetBytes: number
  readonly entryBytes: number
  readonly #countBytes: number
  readonly #bytes: Buffer
  readonly #isLittle: boolean
  #bytesLeft: number

  constructor(bytes: Buffer) {
    this.#bytes = bytes
    this.#bytesLeft = bytes.length
    this.#isLittle = isLittleEndian(bytes)
    const version = this.#numberAt(2, 2)
    const isBig = version === BIG
    this.offsetBytes = isBig ? 8 : 4
    this.entryBytes = isBig ? 20 : 12
    this.#countBytes = isBig ? 8 : 2
    if (version !== CLASSIC && !(isBig && this.#numberAt(4, 2) === 8)) throw new RangeError('not TIFF')
  }

  get firstDirectory(): number {
    return this.offsetAt(this.offsetBytes)
  }

  directoryAt(at: number): Directory {
    const count = this.#numberAt(at, this.#countBytes)
    const first = at + this.#countBytes
    const end = first + count * this.entryBytes
    if (end + this.offsetBytes > this.#bytes.length)
      throw new RangeError('directory past the end of the file')
    this.#spend(end + this.offsetBytes - at)
    return { entries: Array.from({ length: count }, (_, i) => first + i * this.entryBytes), end }
  }

  /** Makes the directory at `at` the only page of the file. */
  keepPage(at: number, { end }: Directory): void {
    this.#write(at, this.offsetBytes, this.offsetBytes)
    this.#write(0, end, this.offsetBytes)
  }

  /** Removes the other entries of the directory at `at`. @param kept in the order of the directory */
  keepEntries(at: number, { entries, end }: Directory, kept: readonly number[]): void {
    this.#write(kept.length, at, this.#countBytes)
    let to = entries[0] ?? end
    for (const entry of kept) {
      this.#bytes.copyWithin(to, entry, entry + this.entryBytes)
      to += this.entryBytes
    }
    this.#bytes.copyWithin(to, end, end + this.offsetBytes)
    this.#bytes.fill(0, to + this.offsetBytes, end + this.offsetBytes)
  }

  toTag(entry: number): number {
    return this.#numberAt(entry, 2)
  }

  /** Where the values of an entry lie: in the entry itself if they fit. */
  toValues(entry: number) {
    const type = this.#numberAt(entry + 2, 2)
    const width = VALUE_BYTES[type] ?? 1
    const count = this.offsetAt(entry + 4)
    const field = entry + 4 + this.offsetBytes
    const isInline = width * count <= this.offsetBytes
    return { type, width, count, size: width * count, isInline, at: isInline ? field : this.offsetAt(field) }
  }

  /** The values of an entry that holds offsets or lengths. */
  numbersOf(entry: number): number[] {
    const { at, width, count, size, isInline } = this.toValues(entry)
    if (!isInline) this.#spend(size)
    return Array.from({ length: count }, (_, i) => this.#numberAt(at + i * width, width))
  }

  offsetAt(at: number): number {
    return this.#numberAt(at, this.offsetBytes)
  }

  #write(value: number, at: number, width: number): void {
    if (width === 8) this.#bytes[this.#isLittle ? 'writeBigUInt64LE' : 'writeBigUInt64BE'](BigInt(value), at)
    else this.#bytes[this.#isLittle ? 'writeUIntLE' : 'writeUIntBE'](value, at, width)
  }

  #spend(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft < 0) throw new RangeError('overlapping directories')
  }

  #numberAt(at: number, width: number): number {
    if (width === 8)
      return Number(this.#isLittle ? this.#bytes.readBigUInt64LE(at) : this.#bytes.readBigUInt64BE(at))
    const bytes = Math.min(width, 4)
    return this.#isLittle ? this.#bytes.readUIntLE(at, bytes) : this.#bytes.readUIntBE(at, bytes)
  }
}

const isLittleEndian = (bytes: Buffer): boolean => bytes[0] === 0x49

/**
 * Checks that the directories, and the values that they point to, lie within the file. libtiff itself reports missing
 * pixels. BigTIFF is left to libtiff altogether.
 */
export function tiffStructure(bytes: Buffer): Structure {
  if (bytes.length < 8) return truncated
  if ((isLittleEndian(bytes) ? bytes.readUInt16LE(2) : bytes.readUInt16BE(2)) !== CLASSIC) return complete
  const tiff = new TiffReader(bytes)
  try {
    let at = tiff.firstDirectory
    while (at !== 0) {
      const { entries, end } = tiff.directoryAt(at)
      for (const entry of entries) {
        const { type, count, size: fullSize } = tiff.toValues(entry)
        const size = type > LAST_TIFF6_TYPE ? count : fullSize
        if (size > 4 && tiff.offsetAt(entry + 8) + size > bytes.length) return truncated
      }
      at = tiff.offsetAt(end)
    }
    return complete
  } catch (error) {
    if (error instanceof RangeError) return truncated
    throw error
  }
}

/**
 * Reduces the file to one page, which is each page after the first in turn. Decoders read all directories whenever they open
 * a file, so opening one page after the other would take quadratic time.
 * @throws RangeError if the directories are malformed
 */
export function* pagesAfterFirst(bytes: Buffer): Generator<void, void> {
  const tiff = new TiffReader(bytes)
  const first = tiff.firstDirectory
  for (let at = first; at !== 0;) {
    const directory = tiff.directoryAt(at)
    const next = tiff.offsetAt(directory.end)
    tiff.keepPage(at, directory)
    if (at !== first) yield
    at = next
  }
}

/** Removes entries from the directories and overwrites their values with zeros. */
export function stripTiff(original: Buffer): Buffer | undefined {
  const bytes = Buffer.from(original)
  const tiff = new TiffReader(bytes)
  const erased = new ErasedRanges()
  let at = tiff.firstDirectory
  while (at !== 0) {
    const directory = tiff.directoryAt(at)
    const kept: number[] = []
    for (const entry of directory.entries) {
      const tag = tiff.toTag(entry)
      if (KEPT_TAGS.has(tag)) kept.push(entry)
      else if (DIRECTORY_TAGS.has(tag)) tiff.numbersOf(entry).forEach(clearDirectories)
      else if (!clearValues(entry)) return undefined
    }
    const next = tiff.offsetAt(directory.end)
    tiff.keepEntries(at, directory, kept)
    at = next
  }
  erased.erase(bytes)
  return bytes

  /** Returns false if the values lie outside the file. */
  function clearValues(entry: number): boolean {
    const { at: start, size, isInline } = tiff.toValues(entry)
    if (isInline) return true
    if (start + size > bytes.length) return false
    erased.add(start, start + size)
    return true
  }

  /** Clears a directory that is not a page, and those below it. A loop ends, because a cleared directory has no entries. */
  function clearDirectories(root: number): void {
    const pending = [root]
    for (let directory = pending.pop(); directory !== undefined; directory = pending.pop()) {
      const { entries, end } = tiff.directoryAt(directory)
      const numbers = (tag: number) => {
        const entry = entries.find((candidate) => tiff.toTag(candidate) === tag)
        return entry === undefined ? [] : tiff.numbersOf(entry)
      }
      for (const [offsetTag, lengthTag] of PIXEL_TAGS) {
        const lengths = numbers(lengthTag)
        numbers(offsetTag).forEach((offset, i) => erased.add(offset, offset + (lengths[i] ?? 0)))
      }
      for (const tag of DIRECTORY_TAGS) for (const offset of numbers(tag)) pending.push(offset)
      // Vendors' values may point anywhere: those outside the file are ignored.
      entries.forEach(clearValues)
      bytes.fill(0, directory, end + tiff.offsetBytes)
    }
  }
}
