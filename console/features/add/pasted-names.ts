import type { TextKey } from '../../i18n/index.ts'
import { MAX_LABEL_CHARACTERS } from '../../base/constants.ts'

/** Maximum number of names; longer lists go through the import screen. */
export const MAX_NAMES = 1_000

/** A date or a time: another column of a pasted table, though dates with hyphens would be valid names. */
const DATE = /^(\d{4}([-/.])\d\d?\2\d\d?(T.*)?|\d\d?([-/.])\d\d?\4\d{4}|\d\d?:\d\d(:\d\d)?)$/

/** A date as the console writes it, with its year or its time: `22 nov 2026, 14:05`. */
const WRITTEN_DATE =
  /(?<!\S)\d\d? (ene|feb|mar|abr|may|jun|jul|ago|sept?|oct|nov|dic|jan|apr|aug|dec)\.?( \d{4}(, \d\d:\d\d)?|, \d\d:\d\d)(?!\S)/gi

export interface PastedNames {
  /** Valid names in the order of the text, each once. */
  readonly names: readonly string[]
  readonly invalid: readonly { readonly text: string; readonly reason: TextKey }[]
  /** Number of repeated names. */
  readonly repeated: number
  readonly isTooLong: boolean
}

/** Reads names from any text: one or several per line, with separators, quotes, or as URLs. */
export function parsePasted(text: string): PastedNames {
  const names = new Set<string>()
  const invalid = new Map<string, TextKey>()
  let repeated = 0
  let isTooLong = false
  for (const [word] of text.replaceAll(WRITTEN_DATE, ' ').matchAll(/[^\s,;|"'<>()]+/g)) {
    if (names.size + invalid.size >= MAX_NAMES) {
      isTooLong = true
      break
    }
    if (DATE.test(word)) continue
    const read = parseName(hostOf(word))
    if ('reason' in read) invalid.set(word, read.reason)
    else if (names.has(read.name)) repeated++
    else names.add(read.name)
  }
  return {
    names: [...names],
    invalid: [...invalid].map(([word, reason]) => ({ text: word, reason })),
    repeated,
    isTooLong,
  }
}

/** `casa.cl` from `https://www.casa.cl/contacto`. */
function hostOf(word: string): string {
  const host = word.replace(/^https?:\/\//i, '').replace(/^([^/?#:]*\.[^/?#:]*)[/?#:].*$/, '$1')
  return /^www\..+\.cl\.?$/i.test(host) ? host.slice('www.'.length) : host
}

const ALPHABET = /^[a-z0-9áéíóúüñ-]+$/

export type ParsedName = { readonly name: string } | { readonly reason: TextKey }

/** Parses a name in any case, with or without suffix, or as an A-label, by the rules of .cl. */
function parseName(text: string): ParsedName {
  const bare = text
    .trim()
    .toLowerCase()
    .normalize('NFC')
    .replace(/\.cl\.?$/, '')
  if (bare === '') return { reason: 'fault.noName' }
  if (bare.includes('.')) return { reason: 'add.reason.suffix' }
  const name = bare.startsWith('xn--') ? decodePunycode(bare.slice(4)) : bare
  if (name === undefined || !ALPHABET.test(name)) return { reason: 'add.reason.letters' }
  if (name.startsWith('-') || name.endsWith('-') || name.startsWith('--', 2)) {
    return { reason: 'add.reason.hyphen' }
  }
  const ascii = /^[\x20-\x7e]*$/.test(name) ? name : toAscii(name)
  if (ascii === undefined || ascii.length > MAX_LABEL_CHARACTERS) return { reason: 'add.reason.length' }
  if (bare.startsWith('xn--') && ascii !== bare) return { reason: 'add.reason.letters' }
  return { name }
}

function toAscii(name: string): string | undefined {
  try {
    return new URL(`http://${name}.cl`).hostname.slice(0, -'.cl'.length)
  } catch {
    return undefined
  }
}

/** Decodes Punycode (RFC 3492, section 6.2) to Latin-1; undefined for other letters and invalid input. */
function decodePunycode(input: string): string | undefined {
  const cut = input.lastIndexOf('-')
  const output = input.slice(0, Math.max(0, cut)).split('')
  let [n, i, bias] = [128, 0, 72]
  for (let at = cut + 1; at < input.length;) {
    const old = i
    for (let [weight, k] = [1, 36]; ; k += 36) {
      const digit = 'abcdefghijklmnopqrstuvwxyz0123456789'.indexOf(input[at++] ?? '-')
      if (digit === -1 || i > 0xffff_ffff) return undefined
      i += digit * weight
      const threshold = Math.min(26, Math.max(1, k - bias))
      if (digit < threshold) break
      weight *= 36 - threshold
    }
    const points = output.length + 1
    let delta = old === 0 ? Math.floor(i / 700) : (i - old) >> 1
    delta += Math.floor(delta / points)
    for (bias = 0; delta > 455; bias += 36) delta = Math.floor(delta / 35)
    bias += Math.floor((36 * delta) / (delta + 38))
    n += Math.floor(i / points)
    i %= points
    if (n > 0xff) return undefined
    output.splice(i++, 0, String.fromCharCode(n))
  }
  return output.join('')
}
