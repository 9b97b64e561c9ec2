/** Items of a still AVIF that say something about the picture and are not part of it. */
const METADATA = new Set(['Exif', 'mime', 'uri '])

/** An Exif item that says nothing: where its TIFF header lies, the header, a directory without entries. */
const NO_EXIF = Buffer.from('0000000049492a0008000000000000000000', 'hex')

/**
 * In place: the bytes of metadata items become zeros, which no reader makes anything of, but that some want Exif to be Exif or refuse
 * the picture (libavif). Lengths and places stay, so nothing else has to be rewritten; the orientation is a property of the
 * picture itself here.
 */
export function stripAvif(original: Buffer): Buffer | undefined {
  const bytes = Buffer.from(original)
  const meta = childOf(bytes, 0, bytes.length, 'meta')
  if (meta === undefined) return undefined
  const infos = childOf(bytes, meta.start + 4, meta.end, 'iinf')
  const places = childOf(bytes, meta.start + 4, meta.end, 'iloc')
  if (infos === undefined || places === undefined) return undefined
  const items = metadataItems(bytes, infos)
  const extents = extentsOf(bytes, places, childOf(bytes, meta.start + 4, meta.end, 'idat')?.start)
  for (const { item, at, length } of extents) {
    const type = items.get(item)
    if (type === undefined) continue
    if (at + length > bytes.length) return undefined
    bytes.fill(0, at, at + length)
    if (type === 'Exif' && length >= NO_EXIF.length) NO_EXIF.copy(bytes, at)
  }
  return bytes
}

interface Box {
  readonly start: number
  readonly end: number
}

/** ISO/IEC 14496-12, 4.2. */
function childOf(bytes: Buffer, from: number, to: number, wanted: string): Box | undefined {
  let at = from
  while (at + 8 <= to) {
    const short = bytes.readUInt32BE(at)
    const isLong = short === 1 && at + 16 <= to
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : short === 0 ? to - at : short
    const head = isLong ? 16 : 8
    if (size < head || at + size > to) return undefined
    if (bytes.toString('latin1', at + 4, at + 8) === wanted) return { start: at + head, end: at + size }
    at += size
  }
  return undefined
}

/** Their types by their numbers. */
function metadataItems(bytes: Buffer, { start, end }: Box): Map<number, string> {
  const items = new Map<number, string>()
  let at = start + (bytes[start] === 0 ? 6 : 8)
  while (at + 20 <= end) {
    const size = bytes.readUInt32BE(at)
    const version = bytes[at + 8] ?? 0
    const wide = version === 3
    const item = wide ? bytes.readUInt32BE(at + 12) : bytes.readUInt16BE(at + 12)
    const place = at + (wide ? 18 : 16)
    const type = bytes.toString('latin1', place, place + 4)
    if (version >= 2 && METADATA.has(type)) items.set(item, type)
    if (size < 12) break
    at += size
  }
  return items
}

/** @param idat where the bytes of items that lie in the head itself begin */
function* extentsOf(bytes: Buffer, { start, end }: Box, idat: number | undefined) {
  const version = bytes[start] ?? 0
  const sizes = bytes.readUInt16BE(start + 4)
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15]
  const indexSize = version === 0 ? 0 : sizes & 15
  let at = start + 6
  const number = (size: number): number => {
    let value = 0
    for (let i = 0; i < size; i++) value = value * 256 + (bytes[at + i] ?? 0)
    at += size
    return value
  }
  const count = number(version < 2 ? 2 : 4)
  for (let i = 0; i < count && at < end; i++) {
    const item = number(version < 2 ? 2 : 4)
    const method = version === 0 ? 0 : number(2) & 15
    number(2)
    const base = number(baseSize) + (method === 1 ? (idat ?? 0) : 0)
    const extents = number(2)
    for (let j = 0; j < extents && at < end; j++) {
      number(indexSize)
      const offset = number(offsetSize)
      yield { item, at: base + offset, length: number(lengthSize) }
    }
  }
}
