/** Returns a count with its noun, such as `1 record`. @param noun its plural is regular */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The URL of a server. @param host a name or an address; one of IPv6 gets its brackets */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Whether both databases store `text` unchanged: PostgreSQL cannot store U+0000, and UTF-8 cannot encode a lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether `text` has at most this many code points, as JSON Schema counts. Takes constant time for texts that are far too long. */
export function hasAtMostCharacters(text: string, characters: number): boolean {
  if (text.length <= characters || text.length > 2 * characters) return text.length <= characters
  return [...text].length <= characters
}

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML and XML, in elements and in attributes. @param special which characters to escape */
export const escapeHtml = (text: string, special = /[&<>"]/g): string =>
  text.replaceAll(special, (character) => REFERENCES[character] ?? character)

/** The known name with the smallest edit distance to `name`, whatever its case. */
export function closestName(name: string, known: readonly string[]): string {
  const folded = name.toLowerCase()
  return known.reduce((best, candidate) =>
    distance(folded, candidate.toLowerCase()) < distance(folded, best.toLowerCase()) ? candidate : best,
  )
}

/** The known name that `name` is probably a typo of: at most half of its letters differ, and at most four. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const best = closestName(name, known)
  const limit = Math.min(4, Math.max(1, Math.floor(name.length / 2)))
  return distance(name.toLowerCase(), best.toLowerCase()) <= limit ? best : undefined
}

/** What it costs to swap two neighbours: a little less than another letter: the letters are right. */
const SWAP_COST = 0.9

/** Levenshtein distance with swaps of neighbours, a row at a time. */
function distance(a: string, b: string): number {
  let previous: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? (previous[j - 2] ?? Infinity) + SWAP_COST : Infinity
      next.push(Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    previous = row
    row = next
  }
  return row[b.length] ?? 0
}

/** Control characters (C0, DEL, C1), lone surrogates, line and paragraph separators, annotations. */
const CONTROLS = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\ufff9-\\ufffb'
/** Characters without a glyph: directional controls, zero-width spaces, the byte order mark, fillers. Not those of `MISPLACED`. */
const INVISIBLE = '[\\p{DI}--[\\u200c\\u200d\\ufe0e\\ufe0f\\u{e0020}-\\u{e007f}]]'
/** Letters and marks of scripts in which joiners change how a word is written. */
const JOINABLE = '[[\\p{L}\\p{M}]--[\\p{DI}\\p{sc=Latn}\\p{sc=Grek}\\p{sc=Cyrl}\\p{sc=Zinh}]]'
/** Joiners, variation selectors and tags where neither a script nor an emoji needs them: two such names would look the same. */
const MISPLACED = [
  `(?<!${JOINABLE})\\u200c`,
  `(?<!${JOINABLE}|\\p{ExtPict}\\ufe0f?\\p{EMod}?)\\u200d`,
  '(?<!\\p{Emoji})[\\ufe0e\\ufe0f]',
  '(?<!\\u{1f3f4}[\\u{e0020}-\\u{e007f}]{0,6})[\\u{e0020}-\\u{e007f}]',
]
const HIDDEN = [`[${CONTROLS}${INVISIBLE}]`, ...MISPLACED].join('|')

const hidden = new RegExp(HIDDEN, 'v')
const allHidden = new RegExp(HIDDEN, 'gv')

/** Whether a text of one line that people read (an agent, an account, a watch, a tag) has no control or invisible character. */
export const isDisplayName = (text: string): boolean => !hidden.test(text)

/** The same for a text that may have several lines. */
export const isDisplayText = (text: string): boolean => isDisplayName(text.replaceAll(/[\r\n]/g, ' '))

/** The rule of `isDisplayName`, for error messages. */
export const DISPLAY_NAME_TAKES = 'sin caracteres de control ni invisibles'

const toEscape = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')

/** Replaces control and invisible characters by their JSON escapes: in JSON the value stays the same. */
export const escapeHidden = (text: string): string => text.replace(allHidden, toEscape)

/** The start of a cell that spreadsheets take for a formula, perhaps already escaped by an apostrophe. */
const FORMULA = /^'*[=+\-@＝＋－＠]/
/** The same inside a text, where a spreadsheet with another list separator would start a cell. */
const INNER_FORMULA = /(?<=[,;"])[=+\-@＝＋－＠]/g
const LOOKS_ESCAPED = /\\(?=u[0-9a-f]{4})/g
const ESCAPE = /\\u([0-9a-f]{4})/g

/**
 * Encodes a text as a CSV cell that no spreadsheet takes for a formula, with control and invisible characters escaped
 * (`\u202e`). `fromCell` restores the same text.
 */
export function toCell(text: string): string {
  const plain = text
    .replace(LOOKS_ESCAPED, '\\u005c')
    .replace(allHidden, toEscape)
    .replace(INNER_FORMULA, toEscape)
  return FORMULA.test(plain) ? `'${plain}` : plain
}

export function fromCell(cell: string): string {
  const text = FORMULA.test(cell) && cell.startsWith("'") ? cell.slice(1) : cell
  return text.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
