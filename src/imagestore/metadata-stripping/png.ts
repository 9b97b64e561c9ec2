import { chunk } from '../decoder/png-chunk.ts'
import { exifOf, orientationOf } from './exif.ts'

/** What is needed to show the picture; APNG's too. */
const KEPT = new Set(
  [
    'IHDR',
    'PLTE',
    'IDAT',
    'IEND',
    'tRNS',
    'cHRM',
    'gAMA',
    'iCCP',
    'sBIT',
    'sRGB',
    'cICP',
    'bKGD',
    'pHYs',
  ].concat(['acTL', 'fcTL', 'fdAT', 'sPLT', 'hIST', 'mDCV', 'cLLI']),
)

export function stripPng(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [bytes.subarray(0, 8)]
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length) return undefined
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (KEPT.has(type)) parts.push(bytes.subarray(at, end))
    else if (type === 'eXIf') {
      const orientation = orientationOf(bytes.subarray(at + 8, end - 4))
      if (orientation !== 1) parts.push(chunk('eXIf', exifOf(orientation)))
    }
    if (type === 'IEND') return Buffer.concat(parts)
    at = end
  }
  return undefined
}
