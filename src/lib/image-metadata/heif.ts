import { complete, ErasedRanges, truncated, type Structure } from './container.ts'

/** Item types of a still AVIF or HEIC that describe the picture and are not part of it. */
const METADATA_ITEMS = new Set(['Exif', 'mime', 'uri '])

/** An empty Exif item: offset of the TIFF header, the header, a directory without entries. */
const EMPTY_EXIF = Buffer.from('0000000049492a0008000000000000000000', 'hex')

interface Box {
  readonly type: string
  readonly start: number
  readonly end: number
}

interface Extent {
  /** That of its item. */
  readonly type: string
  readonly at: number
  readonly length: number
}

/** Yields boxes (ISO/IEC 14496-12, 4.2) up to the first that does not fit. A size of 0 means up to the end. */
function* boxesIn(bytes: Buffer, from: number, to: number): Generator<Box> {
  for (let at = from; at + 8 <= to;) {
    const short = bytes.readUInt32BE(at)
    const isLong = short === 1 && at + 16 <= to
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? to - at : short
    const headBytes = isLong ? 16 : 8
    if (size < headBytes || at + size > to) return
    yield { type: bytes.toString('latin1', at + 4, at + 8), start: at + headBytes, end: at + size }
    at += size
  }
}

function findBox(bytes: Buffer, from: number, to: number, type: string): Box | undefined {
  for (const box of boxesIn(bytes, from, to)) if (box.type === type) return box
  return undefined
}

/** Top-level boxes that are part of the picture. Others hold XMP, videos of motion photos, or nothing. */
const PICTURE_BOXES = new Set(['ftyp', 'meta', 'mdat', 'moov'])

/** Reads the top-level boxes. What follows the header and the media data may be garbage. */
export function heifStructure(bytes: Buffer): Structure {
  const types = new Set<string>()
  let end = 0
  for (const box of boxesIn(bytes, 0, bytes.length)) {
    types.add(box.type)
    end = box.end
  }
  const isWhole = types.has('meta') && (types.has('mdat') || end === bytes.length)
  return isWhole ? complete : truncated
}

/**
 * Overwrites the content of metadata items with zeros, or with an empty Exif block, because libavif rejects a picture
 * whose Exif item is not Exif. Lengths and offsets stay, so nothing else changes. Orientation is a property of the picture
 * itself in this format.
 */
export function stripHeif(original: Buffer): Buffer | undefined {
  const bytes = Buffer.from(original)
  const extents = metadataExtents(bytes)
  if (extents === undefined) return undefined
  const erased = new ErasedRanges()
  let fileEnd = 0
  for (const { type, start, end } of boxesIn(bytes, 0, bytes.length)) {
    if (!PICTURE_BOXES.has(type)) erased.add(start, end)
    fileEnd = end
  }
  const exifs = new Set<number>()
  for (const { type, at, length } of extents) {
    if (at + length > bytes.length) return undefined
    erased.add(at, at + length)
    if (type === 'Exif' && length >= EMPTY_EXIF.length) exifs.add(at)
  }
  erased.erase(bytes)
  for (const at of exifs) EMPTY_EXIF.copy(bytes, at)
  return bytes.subarray(0, fileEnd)
}

/** Where the content of metadata items lies, if the file lists its items. */
function metadataExtents(bytes: Buffer): Iterable<Extent> | undefined {
  const meta = findBox(bytes, 0, bytes.length, 'meta')
  if (meta === undefined) return undefined
  const [infos, locations, data] = ['iinf', 'iloc', 'idat'].map((type) =>
    findBox(bytes, meta.start + 4, meta.end, type),
  )
  if (infos === undefined || locations === undefined) return undefined
  return extentsOf(bytes, locations, metadataItems(bytes, infos), data?.start ?? 0)
}

/** The types of metadata items by item number. */
function metadataItems(bytes: Buffer, { start, end }: Box): Map<number, string> {
  const items = new Map<number, string>()
  let at = start + (bytes[start] === 0 ? 6 : 8)
  while (at + 20 <= end) {
    const size = bytes.readUInt32BE(at)
    const version = bytes[at + 8] ?? 0
    const isWide = version === 3
    const item = isWide ? bytes.readUInt32BE(at + 12) : bytes.readUInt16BE(at + 12)
    const typeAt = at + (isWide ? 18 : 16)
    const type = bytes.toString('latin1', typeAt, typeAt + 4)
    if (version >= 2 && METADATA_ITEMS.has(type)) items.set(item, type)
    if (size < 12) break
    at += size
  }
  return items
}

/** Where the bytes of these items lie. @param dataStart offset of the items that lie in the header itself */
function* extentsOf(
  bytes: Buffer,
  { start, end }: Box,
  types: ReadonlyMap<number, string>,
  dataStart: number,
): Generator<Extent> {
  const version = bytes[start] ?? 0
  const sizes = bytes.readUInt16BE(start + 4)
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexSize = version === 0 ? 0 : sizes & 15
  let at = start + 6
  const readNumber = (size: number): number => {
    let value = 0
    for (let i = 0; i < size; i++) value = value * 256 + (bytes[at + i] ?? 0)
    at += size
    return value
  }
  const count = readNumber(version < 2 ? 2 : 4)
  for (let i = 0; i < count && at < end; i++) {
    const type = types.get(readNumber(version < 2 ? 2 : 4))
    const method = version === 0 ? 0 : readNumber(2) & 15
    readNumber(2)
    const base = readNumber(baseSize) + (method === 1 ? dataStart : 0)
    const extents = readNumber(2)
    // Fields of no width would make many extents of a few bytes.
    if (indexSize + offsetSize + lengthSize === 0) continue
    for (let j = 0; j < extents && at < end; j++) {
      readNumber(indexSize)
      const offset = readNumber(offsetSize)
      const length = readNumber(lengthSize)
      if (type !== undefined) yield { type, at: base + offset, length }
    }
  }
}
