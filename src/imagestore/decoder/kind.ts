import { svgHead } from './svg-text.ts'
import type { ImageKind } from './types.ts'

export const mimeOf = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  tiff: 'image/tiff',
  svg: 'image/svg+xml',
} as const satisfies Record<ImageKind, string>

const TIFF_MARKS = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']

/** Longest prolog (byte order mark, XML declaration, comments, document type) looked through for the `svg` element. */
const SVG_PROLOG = 64 * 1024

/** Kind by the bytes alone; undefined for everything that is not accepted (HEIC, AVIF sequences, svgz, BMP, PDF…). */
export function detectKind(bytes: Buffer): ImageKind | undefined {
  const head = bytes.toString('latin1', 0, 16)
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'gif'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'webp'
  if (head.slice(4, 8) === 'ftyp') return isStillAvif(bytes) ? 'avif' : undefined
  if (TIFF_MARKS.some((mark) => head.startsWith(mark))) return 'tiff'
  return isSvg(bytes) ? 'svg' : undefined
}

function isStillAvif(bytes: Buffer): boolean {
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 256)
  const major = bytes.toString('latin1', 8, 12)
  const compatible: string[] = []
  for (let at = 16; at + 4 <= end; at += 4) compatible.push(bytes.toString('latin1', at, at + 4))
  return major === 'avif' || ((major === 'mif1' || major === 'miaf') && compatible.includes('avif'))
}

/** True when the first element is `svg`. Steps over the prolog piece by piece: a pattern could backtrack for ever. */
function isSvg(bytes: Buffer): boolean {
  const text = svgHead(bytes, SVG_PROLOG)
  let at = 0
  while (at < text.length) {
    while (' \t\r\n'.includes(text.charAt(at) || 'x')) at++
    const end = prologPieceEnd(text, at)
    if (end === undefined) return /^<(?:[^\s<>/:]{1,256}:)?svg[\s>/]/.test(text.slice(at, at + 270))
    if (end < 0) return false
    at = end
  }
  return false
}

/** Where the prolog piece that starts at `at` ends; -1 when it does not end, undefined when there is no such piece. */
function prologPieceEnd(text: string, at: number): number | undefined {
  const after = (mark: string, from: number): number => {
    const found = text.indexOf(mark, from)
    return found < 0 ? -1 : found + mark.length
  }
  if (text.startsWith('<?', at)) return after('?>', at)
  if (text.startsWith('<!--', at)) return after('-->', at + 4)
  if (!text.startsWith('<!DOCTYPE', at)) return undefined
  const close = after('>', at)
  const subset = text.indexOf('[', at)
  if (subset < 0 || subset > close) return close
  const subsetEnd = after(']', subset)
  return subsetEnd < 0 ? -1 : after('>', subsetEnd)
}
