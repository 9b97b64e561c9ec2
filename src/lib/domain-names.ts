import { decodePunycode, encodePunycode } from './punycode.ts'

declare const canonical: unique symbol

/** A .cl label without the suffix, in its canonical Unicode form: lower-case, NFC, in the alphabet of .cl. */
export type DomainName = string & { readonly [canonical]: true }

export type NameFault =
  /** Nothing is left after trimming. */
  | 'empty'
  /** There is a dot in what should be one label. */
  | 'dot'
  /** A character is neither a–z, 0–9, a hyphen nor one of á é í ó ú ü ñ. */
  | 'alphabet'
  /** A hyphen is first or last, or positions 3 and 4 are both hyphens. */
  | 'hyphen'
  /** The A-label has more than 63 octets, or the whole name more than 253. */
  | 'length'
  /** An `xn--` label that does not decode, or that is not the encoding of what it decodes to. */
  | 'punycode'
  /** A full name that is not under `.cl`. */
  | 'suffix'

export type Label = { ok: true; name: DomainName; /** The A-label, as in the DNS. */ ascii: string } | Fault
export type Domain =
  | {
      ok: true
      /** A-labels, lower-case, no trailing dot. */ ascii: string
      /** The same in Unicode. */ unicode: string
    }
  | Fault
type Fault = { ok: false; fault: NameFault }

export type SearchText = {
  /** Searched in the Unicode name. */
  text: string
  /** Also searched in the A-label: set if the text was in `xn--` form. */
  ascii?: string
}

const aLabelPrefix = 'xn--'
const suffix = '.cl'
const maxLabelOctets = 63
const maxNameOctets = 253
// Longer than any valid input, decomposed letters included. Avoids normalizing huge texts.
const maxInputUnits = 512

// 0: not in the alphabet; 1: ASCII letter or digit; 2: hyphen; 3: IDN letter. Indexed by code unit, Latin-1 only.
const classes = new Uint8Array(256)
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') classes[character.charCodeAt(0)] = 1
classes[0x2d] = 2
for (const character of 'áéíóúüñ') classes[character.charCodeAt(0)] = 3

function fault(reason: NameFault): Fault {
  return { ok: false, fault: reason }
}

// Lower-casing is the locale-independent kind. It turns the Kelvin sign into `k` (as UTS #46 does) and `İ` into `i`
// with a combining dot, which is outside the alphabet. NFKC is not applied: full-width forms and other homoglyphs
// are rejected.
function fold(text: string): string {
  return text.trim().toLowerCase().normalize('NFC')
}

/** Returns the first fault in the characters or hyphens of a label. */
function spellingFault(label: string): NameFault | undefined {
  if (label === '') return 'empty'
  for (let at = 0; at < label.length; at++) {
    const code = label.charCodeAt(at)
    if (code > 0xff || classes[code] === 0) return code === 0x2e ? 'dot' : 'alphabet'
  }
  if (label.startsWith('-') || label.endsWith('-') || label.startsWith('--', 2)) return 'hyphen'
  return undefined
}

function isCanonical(label: string): label is DomainName {
  return spellingFault(label) === undefined
}

function hasIdnLetter(label: string): boolean {
  for (let at = 0; at < label.length; at++) if (label.charCodeAt(at) > 0x7f) return true
  return false
}

function parseALabel(ascii: string): Label {
  if (ascii.length > maxLabelOctets) return fault('length')
  const name = decodePunycode(ascii.slice(aLabelPrefix.length))
  // An A-label of an ASCII name, or a second encoding of a name, would be a second key for one domain.
  if (name === undefined || !hasIdnLetter(name)) return fault('punycode')
  if (aLabelPrefix + encodePunycode(name) !== ascii) return fault('punycode')
  if (isCanonical(name)) return { ok: true, name, ascii }
  return fault(spellingFault(name) ?? 'punycode')
}

/** Parses a label that `fold` has normalized. */
function parseFoldedLabel(label: string): Label {
  if (label.startsWith(aLabelPrefix) && !hasIdnLetter(label) && !label.includes('.'))
    return parseALabel(label)
  if (!isCanonical(label)) return fault(spellingFault(label) ?? 'alphabet')
  if (label.length > maxLabelOctets) return fault('length')
  if (!hasIdnLetter(label)) return { ok: true, name: label, ascii: label }
  const ascii = aLabelPrefix + encodePunycode(label)
  return ascii.length > maxLabelOctets ? fault('length') : { ok: true, name: label, ascii }
}

// Fast path: most names are lower-case ASCII already and need no copy.
function isPlain(input: string): input is DomainName {
  const last = input.length - 1
  if (last < 0 || last >= maxLabelOctets) return false
  for (let at = 0; at <= last; at++) {
    const kind = classes[input.charCodeAt(at)]
    if (kind === 1) continue
    if (kind !== 2 || at === 0 || at === last) return false
    if (at === 2 && input.charCodeAt(3) === 0x2d) return false
  }
  return true
}

/** Parses one label under .cl, without suffix: trims, lower-cases, applies NFC, decodes `xn--`, validates by the rules of .cl. */
export function parseLabel(input: string): Label {
  if (isPlain(input)) return { ok: true, name: input, ascii: input }
  if (input.length > maxInputUnits) return fault('length')
  return parseFoldedLabel(fold(input))
}

/** The same for a text that may end in `.cl` or `.cl.`. */
export function parseLabelOrDomain(input: string): Label {
  if (input.length > maxInputUnits) return fault('length')
  return parseLabel(input.trim().replace(/\.cl\.?$/i, ''))
}

/**
 * Parses a full name under .cl, with or without a trailing dot. Subdomains (`www.ejemplo.cl`) are accepted; every label must
 * follow the rules of .cl. Rejects `cl` itself.
 */
export function parseDomain(input: string): Domain {
  if (input.length > maxInputUnits) return fault('length')
  let name = fold(input)
  if (name === '') return fault('empty')
  if (name.endsWith('.')) name = name.slice(0, -1)
  if (!name.endsWith(suffix)) return fault('suffix')
  const labels: (Label & { ok: true })[] = []
  for (const text of name.slice(0, -suffix.length).split('.')) {
    const label = parseFoldedLabel(text)
    if (!label.ok) return label
    labels.push(label)
  }
  const ascii = labels.map((label) => label.ascii).join('.') + suffix
  if (ascii.length > maxNameOctets) return fault('length')
  return { ok: true, ascii, unicode: labels.map((label) => label.name).join('.') + suffix }
}

/**
 * Normalizes a search text: trims, lower-cases, applies NFC, drops a final `.cl`. `''` matches every name. A record matches if
 * its name contains `text` or, if `ascii` is set, its A-label contains `ascii`. A whole A-label is also decoded, so that it
 * finds the same as its Unicode form.
 */
export function foldSearch(input: string): SearchText {
  const folded = fold(input)
  const text = folded.endsWith(suffix) ? folded.slice(0, -suffix.length) : folded
  if (!text.startsWith(aLabelPrefix)) return { text }
  const label = parseLabel(text)
  return { text: label.ok ? label.name : text, ascii: text }
}
