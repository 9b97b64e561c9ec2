import { decodePunycode, encodePunycode } from './names-punycode.ts'

declare const canonical: unique symbol

/** A .cl label without the suffix, in its one canonical Unicode form: lower-case, NFC, in the alphabet of .cl. */
export type DomainName = string & { readonly [canonical]: true }

export type NameFault =
  /** Nothing is left after trimming. */
  | 'empty'
  /** There is a dot in what should be one label. */
  | 'dot'
  /** A character is neither a–z, 0–9, a hyphen nor one of á é í ó ú ü ñ. */
  | 'alphabet'
  /** A hyphen is first, last, or in places 3 and 4 at once. */
  | 'hyphen'
  /** The A-label has more than 63 octets, or the whole name more than 253. */
  | 'length'
  /** An `xn--` label that decodes to nothing, or to something that is not written so. */
  | 'punycode'
  /** A full name that is not under `.cl`. */
  | 'suffix'

export type Label =
  { ok: true; name: DomainName; /** A-label: what the DNS carries. */ ascii: string } | Fault
export type Domain =
  | {
      ok: true
      /** A-labels, lower-case, no trailing dot. */ ascii: string
      /** The same as people write it. */ unicode: string
    }
  | Fault
type Fault = { ok: false; fault: NameFault }

export type SearchText = {
  /** To look for in the Unicode name. */
  text: string
  /** To look for in the A-label as well: set when the text was written in `xn--` form. */
  ascii?: string
}

const aLabelPrefix = 'xn--'
const suffix = '.cl'
const maxLabelOctets = 63
const maxNameOctets = 253
// Decomposed, a letter takes two code units: no valid input comes near this. Spares the folding of huge texts.
const maxInputUnits = 512

// 0: not in the alphabet; 1: ASCII letter or digit; 2: hyphen; 3: IDN letter. Indexed by code unit, Latin-1 only.
const classes = new Uint8Array(256)
for (const character of 'abcdefghijklmnopqrstuvwxyz0123456789') classes[character.charCodeAt(0)] = 1
classes[0x2d] = 2
for (const character of 'áéíóúüñ') classes[character.charCodeAt(0)] = 3

function fault(reason: NameFault): Fault {
  return { ok: false, fault: reason }
}

// Lower-casing is the locale-independent kind. It turns the Kelvin sign into `k` (as UTS #46 does) and `İ` into `i` with
// a combining dot, which is outside the alphabet. NFKC is not applied: full-width and other look-alikes are refused.
function fold(text: string): string {
  return text.trim().toLowerCase().normalize('NFC')
}

/** Whether every character is of the alphabet and the hyphens are where they may be; else the first fault found. */
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
  // An A-label for a name of plain ASCII, or a second spelling of the same name, would be a second key for one domain.
  if (name === undefined || !hasIdnLetter(name)) return fault('punycode')
  if (aLabelPrefix + encodePunycode(name) !== ascii) return fault('punycode')
  if (isCanonical(name)) return { ok: true, name, ascii }
  return fault(spellingFault(name) ?? 'punycode')
}

/** Folded text to label. */
function parseFoldedLabel(label: string): Label {
  if (label.startsWith(aLabelPrefix) && !hasIdnLetter(label) && !label.includes('.'))
    return parseALabel(label)
  if (!isCanonical(label)) return fault(spellingFault(label) ?? 'alphabet')
  if (label.length > maxLabelOctets) return fault('length')
  if (!hasIdnLetter(label)) return { ok: true, name: label, ascii: label }
  const ascii = aLabelPrefix + encodePunycode(label)
  return ascii.length > maxLabelOctets ? fault('length') : { ok: true, name: label, ascii }
}

// Most names arrive folded and of plain ASCII: one pass settles those without a copy. At most 63 characters.
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

/** One label under .cl, without suffix: trimmed, lower-cased, NFC, `xn--` decoded, checked against the rules of .cl. */
export function parseLabel(input: string): Label {
  if (isPlain(input)) return { ok: true, name: input, ascii: input }
  if (input.length > maxInputUnits) return fault('length')
  return parseFoldedLabel(fold(input))
}

/** The same where a `.cl` at the end, with or without a dot behind it, is left out. */
export function parseLabelOrDomain(input: string): Label {
  if (input.length > maxInputUnits) return fault('length')
  return parseLabel(input.trim().replace(/\.cl\.?$/i, ''))
}

/**
 * A full name under .cl, a trailing dot allowed. Names below a registered one (`www.ejemplo.cl`) are names under .cl too;
 * every label keeps to the rules of .cl. `cl` itself is not under .cl.
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
 * What a search text looks for: trimmed, lower-cased, NFC, a `.cl` at its end left out. `''` is in every name.
 * A record matches when its name contains `text` or, where `ascii` is set, its A-label contains `ascii`: a whole
 * A-label is also decoded, so that it finds what its Unicode form would; part of one is looked for as it stands.
 */
export function foldSearch(input: string): SearchText {
  const folded = fold(input)
  const text = folded.endsWith(suffix) ? folded.slice(0, -suffix.length) : folded
  if (!text.startsWith(aLabelPrefix)) return { text }
  const label = parseLabel(text)
  return { text: label.ok ? label.name : text, ascii: text }
}
