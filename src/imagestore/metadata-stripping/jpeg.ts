import { exifOf, orientationOf } from './exif.ts'

const START_OF_SCAN = 0xda
const EXIF = Buffer.from('Exif\0\0', 'latin1')
const FIRST_APP = 0xe0
const LAST_APP = 0xef
const COMMENT = 0xfe
const END_OF_IMAGE = 0xd9
const FIRST_RESTART = 0xd0
const LAST_RESTART = 0xd7
/** JFIF; the colour profile; what tells CMYK from YCCK. All other application segments are metadata or another picture. */
const KEPT: Readonly<Record<number, string>> = { 0xe0: 'JFIF\0', 0xe2: 'ICC_PROFILE\0', 0xee: 'Adobe' }

export function stripJpeg(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [bytes.subarray(0, 2)]
  let orientation = 1
  let at = 2
  for (;;) {
    if (at + 4 > bytes.length || bytes[at] !== 0xff) return undefined
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at++
      continue
    }
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    if (end > bytes.length) return undefined
    if (marker === START_OF_SCAN) break
    const content = bytes.subarray(at + 4, end)
    if (marker === 0xe1 && content.subarray(0, 6).equals(EXIF)) {
      orientation = orientationOf(content.subarray(6))
    } else if (isKept(marker, content)) parts.push(bytes.subarray(at, end))
    at = end
  }
  if (orientation !== 1) parts.splice(1, 0, segment(0xe1, Buffer.concat([EXIF, exifOf(orientation)])))
  const rest = scans(bytes, at)
  return rest && Buffer.concat([...parts, ...rest])
}

function isKept(marker: number, content: Buffer): boolean {
  if (marker === COMMENT) return false
  if (marker < FIRST_APP || marker > LAST_APP) return true
  const mark = KEPT[marker]
  return mark !== undefined && content.toString('latin1', 0, mark.length) === mark
}

/**
 * The scans without comments and application segments between them, up to the end mark of this picture: a second one may
 * follow, with metadata of its own.
 */
function scans(bytes: Buffer, from: number): Buffer[] | undefined {
  const parts: Buffer[] = []
  let start = from
  for (let at = bytes.indexOf(0xff, from); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1] ?? 0
    if (marker === END_OF_IMAGE) return [...parts, bytes.subarray(start, at + 2)]
    if (marker === 0 || marker === 0xff || (marker >= FIRST_RESTART && marker <= LAST_RESTART)) {
      at += marker === 0xff ? 1 : 2
      continue
    }
    if (at + 4 > bytes.length) return undefined
    const next = at + 2 + bytes.readUInt16BE(at + 2)
    if (marker === COMMENT || (marker >= FIRST_APP && marker <= LAST_APP)) {
      parts.push(bytes.subarray(start, at))
      start = next
    }
    at = next
  }
  return undefined
}

function segment(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}
