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
