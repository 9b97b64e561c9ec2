import { domainToASCII, domainToUnicode } from 'node:url'

declare const canonical: unique symbol

/** A .cl label without the suffix, in its canonical Unicode form: lower-case, NFC, in the alphabet of .cl. */
export type DomainName = string & { readonly [canonical]: true }

export type Label =
  | {
      readonly ok: true
      readonly name: DomainName
      /** The A-label, as in the DNS. */
      readonly ascii: string
    }
  | Invalid
export type Domain =
  | {
      readonly ok: true
      /** A-labels, lower-case, no trailing dot. */
      readonly ascii: string
      /** The same in Unicode. */
      readonly unicode: string
    }
  | Invalid
interface Invalid {
  readonly ok: false
}

export interface SearchText {
  /** Searched in the Unicode name. */
  readonly text: string
  /** Also searched in the A-label: set if the text was in `xn--` form. */
  readonly ascii?: string
}

const A_LABEL_PREFIX = 'xn--'
const SUFFIX = '.cl'
const MAX_LABEL_OCTETS = 63
const MAX_NAME_OCTETS = 253
/** Longer than any valid input, decomposed letters included. Avoids normalizing huge texts. */
const MAX_INPUT_UNITS = 512

/** The alphabet of .cl, with a hyphen neither first nor last, and not both third and fourth. */
const CANONICAL = /^(?!-|..--)[a-z\dáéíóúüñ-]+(?<!-)$/
/** A canonical label of ASCII characters, which needs neither folding nor an A-label. */
const PLAIN = /^(?!-|..--)[a-z\d-]{1,63}(?<!-)$/
const INVALID: Invalid = { ok: false }

/** The A-label of a .cl label with letters beyond ASCII: what the DNS carries. UTS #46 maps no letter of .cl to another one. */
export const toALabel = (label: string): string => domainToASCII(label)

/**
 * Lower-casing is the locale-independent kind. It turns the Kelvin sign into `k` (as UTS #46 does) and `İ` into `i` with a
 * combining dot, which is outside the alphabet. NFKC is not applied: full-width forms and other homoglyphs are rejected.
 */
const fold = (text: string): string => text.trim().toLowerCase().normalize('NFC')

const isCanonical = (label: string): label is DomainName => CANONICAL.test(label)

const isPlain = (label: string): label is DomainName => PLAIN.test(label)

/** Whether a canonical label has letters beyond ASCII. */
export const hasIdnLetter = (label: string): boolean => /[^\0-\x7f]/.test(label)

/** Parses a label that `fold` has normalized. */
function parseFoldedLabel(label: string): Label {
  if (label.length > MAX_LABEL_OCTETS) return INVALID
  const isALabel = /^xn--[a-z\d-]+$/.test(label)
  const name = isALabel ? domainToUnicode(label) : label
  if (!isCanonical(name)) return INVALID
  if (!hasIdnLetter(name)) return { ok: true, name, ascii: name }
  const ascii = toALabel(name)
  // A second encoding of a name would be a second key for one domain.
  if (ascii.length > MAX_LABEL_OCTETS || (isALabel && ascii !== label)) return INVALID
  return { ok: true, name, ascii }
}

/** Parses one label under .cl, without suffix: trims, lower-cases, applies NFC, decodes `xn--`, validates by the rules of .cl. */
export function parseLabel(input: string): Label {
  // Nearly all names of a batch are plain.
  if (isPlain(input)) return { ok: true, name: input, ascii: input }
  return input.length > MAX_INPUT_UNITS ? INVALID : parseFoldedLabel(fold(input))
}

/** The same for a text that may end in `.cl` or `.cl.`. */
export function parseLabelOrDomain(input: string): Label {
  return input.length > MAX_INPUT_UNITS ? INVALID : parseLabel(input.trim().replace(/\.cl\.?$/i, ''))
}

/**
 * Parses a full name under .cl, with or without a trailing dot. Subdomains (`www.ejemplo.cl`) are accepted; every label must
 * follow the rules of .cl. Rejects `cl` itself.
 */
export function parseDomain(input: string): Domain {
  if (input.length > MAX_INPUT_UNITS) return INVALID
  const name = fold(input).replace(/\.$/, '')
  if (!name.endsWith(SUFFIX)) return INVALID
  const labels: (Label & { ok: true })[] = []
  for (const text of name.slice(0, -SUFFIX.length).split('.')) {
    const label = parseFoldedLabel(text)
    if (!label.ok) return INVALID
    labels.push(label)
  }
  const ascii = labels.map((label) => label.ascii).join('.') + SUFFIX
  if (ascii.length > MAX_NAME_OCTETS) return INVALID
  return { ok: true, ascii, unicode: labels.map((label) => label.name).join('.') + SUFFIX }
}

/**
 * Normalizes a search text: trims, lower-cases, applies NFC, drops a final `.cl`. `''` matches every name. A record matches if
 * its name contains `text` or, if `ascii` is set, its A-label contains `ascii`. A whole A-label is also decoded, so that it
 * finds the same as its Unicode form.
 */
export function foldSearch(input: string): SearchText {
  const folded = fold(input)
  const text = folded.endsWith(SUFFIX) ? folded.slice(0, -SUFFIX.length) : folded
  if (!text.startsWith(A_LABEL_PREFIX)) return { text }
  const label = parseLabel(text)
  return { text: label.ok ? label.name : text, ascii: text }
}

/** Each vowel nucleus. The `u` of `que`, `qui`, `gue` and `gui` is silent, and `y` counts as `i`, except before a vowel. */
const NUCLEUS = /[iuü]?[aeoáéó][iuü]?|[ií][uúü]|[uúü][ií]|[iuüíú]/g
const SILENT_U = /(?<=[gq])u(?=[eéií])/g
const Y_AS_I = /y(?![aeiouáéíóúü])/g

const VOWELS = 'aeiouáéíóúü'

function toKind(character: string): string {
  if (character === '-') return 'H'
  if (character >= '0' && character <= '9') return 'N'
  return VOWELS.includes(character) ? 'V' : 'C'
}

/** Returns a letter per character of a name: `C` for a consonant, `V` for a vowel, `N` for a digit and `H` for a hyphen. */
export const toShape = (name: string): string => Array.from(name, toKind).join('')

/** Whether a name has this shape, in which `L` is any letter, a consonant or a vowel. */
export function hasShape(name: string, shape: string): boolean {
  if (name.length !== shape.length) return false
  return [...shape].every((wanted, i) => {
    const kind = toKind(name.charAt(i))
    return kind === wanted || (wanted === 'L' && (kind === 'C' || kind === 'V'))
  })
}

/**
 * Returns the number of syllables of a name as written: its vowel nuclei. An open vowel (a, e, o) includes a closed one (i, u) without an
 * accent on either side, and two different closed vowels are one nucleus.
 * @returns null for a name without a vowel, or with a digit or a hyphen
 */
export function toSyllables(name: string): number | null {
  if (/[\d-]/.test(name)) return null
  return name.replaceAll(SILENT_U, '').replaceAll(Y_AS_I, 'i').match(NUCLEUS)?.length ?? null
}
