/** Control characters (C0, DEL, C1), lone surrogates, line and paragraph separators, and directional overrides. */
const CONTROLS = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069'
/** Directional marks, zero-width spaces, the byte order mark. Not the joiners U+200C and U+200D, which emoji and several scripts need. */
const INVISIBLE = '\\p{Bidi_Control}\\u200b\\u2060-\\u2064\\ufeff\\ufff9-\\ufffb'

const hidden = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'u')
const allHidden = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'gu')

/** Whether a name that people identify something by (an agent, an account, a watch) has no control or invisible character. */
export const isDisplayName = (text: string): boolean => !hidden.test(text)

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
