import { EXIF_IDENTIFIER, exifWithOrientation, orientationOf } from './metadata.ts'
import { complete, KeptRanges, truncated, type Structure } from './container.ts'

const START_OF_SCAN = 0xda
const END_OF_IMAGE = 0xd9
const FIRST_RESTART = 0xd0
const LAST_RESTART = 0xd7
const FIRST_APP = 0xe0
const APP1 = 0xe1
const APP13 = 0xed
const LAST_APP = 0xef
const COMMENT = 0xfe
const PROGRESSIVE = new Set([0xc2, 0xc6, 0xca, 0xce])
const WITHOUT_LENGTH = new Set([0x01, 0xd8, ...Array.from({ length: 8 }, (_, i) => FIRST_RESTART + i)])
const END_MARKER = Buffer.from([0xff, END_OF_IMAGE])
/** JFIF, the ICC profile, and what tells CMYK from YCCK. Other application segments hold metadata or another picture. */
const KEPT_APPS: Readonly<Record<number, string>> = { 0xe0: 'JFIF\0', 0xe2: 'ICC_PROFILE\0', 0xee: 'Adobe' }

const isApp = (marker: number): boolean => marker >= FIRST_APP && marker <= LAST_APP

/** Reads segments up to the first scan. The end marker counts after that only, because a thumbnail before it may contain one. */
export function jpegStructure(bytes: Buffer): Structure {
  let buffered = false
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) {
      at++
      continue
    }
    const marker = bytes[at + 1] ?? 0
    // Searched backwards, because most whole files end with the marker.
    if (marker === START_OF_SCAN)
      return { ...complete, complete: bytes.lastIndexOf(END_MARKER) > at, buffered }
    if (PROGRESSIVE.has(marker)) buffered = true
    if (marker === 0xff) at++
    else if (WITHOUT_LENGTH.has(marker)) at += 2
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return truncated
}

/** Removes metadata segments. The orientation is kept, as an EXIF block with nothing else. */
export function stripJpeg(bytes: Buffer): Buffer | undefined {
  const kept = new KeptRanges()
  kept.add(0, 2)
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
    if (marker === APP1 && content.subarray(0, EXIF_IDENTIFIER.length).equals(EXIF_IDENTIFIER)) {
      orientation = orientationOf(content.subarray(EXIF_IDENTIFIER.length))
    } else if (isKept(marker, content)) kept.add(at, end)
    at = end
  }
  if (!keepScans(bytes, at, kept)) return undefined
  if (orientation === 1) return kept.copy(bytes)
  const exif = Buffer.concat([EXIF_IDENTIFIER, exifWithOrientation(orientation)])
  return kept.copy(bytes, segment(APP1, exif), 2)
}

function isKept(marker: number, content: Buffer): boolean {
  if (marker === COMMENT) return false
  if (!isApp(marker)) return true
  const identifier = KEPT_APPS[marker]
  return identifier !== undefined && content.toString('latin1', 0, identifier.length) === identifier
}

/**
 * Keeps the scans up to the first end marker, without comments and application segments between them. A second picture,
 * with its own metadata, may follow the marker. Returns false if there is no end marker.
 */
function keepScans(bytes: Buffer, from: number, kept: KeptRanges): boolean {
  let start = from
  for (let at = bytes.indexOf(0xff, from); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(0xff, at)) {
    const marker = bytes[at + 1] ?? 0
    if (marker === END_OF_IMAGE) {
      kept.add(start, at + 2)
      return true
    }
    if (marker === 0 || marker === 0xff || (marker >= FIRST_RESTART && marker <= LAST_RESTART)) {
      at += marker === 0xff ? 1 : 2
      continue
    }
    if (at + 4 > bytes.length) return false
    const next = at + 2 + bytes.readUInt16BE(at + 2)
    if (marker === COMMENT || isApp(marker)) {
      kept.add(start, at)
      start = next
    }
    at = next
  }
  return false
}

/** Inserts an APP13 segment (see `cleanIptc`). @param content of the segment */
export function insertApp13(jpeg: Buffer, content: Buffer): Buffer {
  // After the application segments at the start, because JFIF and EXIF must come first.
  let at = 2
  while (jpeg[at] === 0xff && isApp(jpeg[at + 1] ?? 0)) at += 2 + jpeg.readUInt16BE(at + 2)
  return Buffer.concat([jpeg.subarray(0, at), segment(APP13, content), jpeg.subarray(at)])
}

function segment(marker: number, content: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}
