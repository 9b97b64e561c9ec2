import { chunk } from './png-chunk.ts'
import { deflateSync } from 'node:zlib'
import { powerProfile, SRGB, type Chromaticities } from './icc.ts'

/** `gAMA` and `cHRM` are in hundred-thousandths. */
const UNIT = 100_000
/** What sRGB samples are encoded with, about: it is what `gAMA` says of them. */
const SRGB_GAMMA = 0.45455
/** Smaller differences are not seen (libpng's own threshold). */
const GAMMA_TOLERANCE = 0.05
const COLOUR_TOLERANCE = 0.01
const IHDR_END = 33
/** Of the colour type in IHDR: whether samples have colours. */
const COLOURED = 2

/** What samples are, where they are not sRGB: light to the power of `gamma`, of these colours. */
export interface PngColour {
  readonly gamma: number
  readonly colours: Chromaticities | undefined
}

/**
 * The PNG with an ICC profile in place of its `gAMA` and `cHRM` chunks, which the decoder ignores. Without a copy where there is nothing
 * to say.
 */
export function withColourProfile(png: Buffer, colour: PngColour | undefined): Buffer {
  if (colour === undefined) return png
  const isColoured = ((png[25] ?? 0) & COLOURED) !== 0
  const profile = powerProfile(1 / colour.gamma, isColoured ? (colour.colours ?? SRGB) : undefined)
  if (profile === undefined) return png
  const data = Buffer.concat([Buffer.from('gAMA\0\0', 'latin1'), deflateSync(profile)])
  return Buffer.concat([png.subarray(0, IHDR_END), chunk('iCCP', data), png.subarray(IHDR_END)])
}

/**
 * What `gAMA` and `cHRM` say. Undefined where that is sRGB, or where `sRGB`, `iCCP` or `cICP` take precedence (PNG, third edition, section
 * 4.3).
 */
export function colourOf(png: Buffer): PngColour | undefined {
  let gamma: number | undefined
  let colours: Chromaticities | undefined
  let at = 8
  while (at + 12 <= png.length) {
    const length = png.readUInt32BE(at)
    const data = png.subarray(at + 8, at + 8 + length)
    const type = png.toString('latin1', at + 4, at + 8)
    if (type === 'iCCP' || type === 'sRGB' || type === 'cICP') return undefined
    if (type === 'gAMA' && length === 4 && data.readUInt32BE() > 0) gamma = data.readUInt32BE() / UNIT
    if (type === 'cHRM' && length === 32) colours = readChromaticities(data)
    if (type === 'IDAT') break
    at += 12 + length
  }
  if (gamma === undefined) return undefined
  const isUsual = Math.abs(gamma / SRGB_GAMMA - 1) <= GAMMA_TOLERANCE
  return isUsual && (colours === undefined || isAlike(colours, SRGB)) ? undefined : { gamma, colours }
}

function readChromaticities(data: Buffer): Chromaticities {
  const point = (index: number): readonly [number, number] => [
    data.readUInt32BE(index * 8) / UNIT,
    data.readUInt32BE(index * 8 + 4) / UNIT,
  ]
  return { white: point(0), primaries: [point(1), point(2), point(3)] }
}

const isAlike = (a: Chromaticities, b: Chromaticities): boolean => {
  const numbers = ({ white, primaries }: Chromaticities) => [white, ...primaries].flat()
  const others = numbers(b)
  return numbers(a).every((value, i) => Math.abs(value - (others[i] ?? 0)) <= COLOUR_TOLERANCE)
}
