/** Controls (C0, DEL, C1), half surrogate pairs, line and paragraph separators, and characters that turn the text around them. */
const CONTROLS = '\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}\\u202a-\\u202e\\u2066-\\u2069'
/**
 * Characters without a shape: marks of direction, zero-width spaces, the byte order mark. Not the joiners U+200C and U+200D,
 * which emoji and several scripts are written with.
 */
const INVISIBLE = '\\p{Bidi_Control}\\u200b\\u2060-\\u2064\\ufeff\\ufff9-\\ufffb'

const unshown = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'u')
const escaped = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'gu')

/** Whether a text that people tell things apart by (an agent, an account, a watch) has no control or invisible character. */
export const isDisplayName = (text: string): boolean => !unshown.test(text)

/** What a message says of a text that is no display name. */
export const DISPLAY_NAME_TAKES = 'sin caracteres de control ni invisibles'

const toEscape = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')

/** The same JSON, in which control and invisible characters are escapes. */
export const escapeJson = (json: string): string => json.replace(escaped, toEscape)

/** A cell that begins so is a formula to a spreadsheet; an apostrophe before it, which we add, may be there already. */
const FORMULA = /^'*[=+\-@＝＋－＠]/
/** The same within a text, where a spreadsheet whose list separator is another one begins a cell. */
const INNER_FORMULA = /(?<=[,;"])[=+\-@＝＋－＠]/g
const LOOKS_ESCAPED = /\\(?=u[0-9a-f]{4})/g
const ESCAPE = /\\u([0-9a-f]{4})/g

/**
 * A text as a cell that no spreadsheet takes for a formula, and in which control and invisible characters are escapes
 * (`\u202e`). `fromCell` turns it back into the same text.
 */
export function toCell(text: string): string {
  const plain = text
    .replace(LOOKS_ESCAPED, '\\u005c')
    .replace(escaped, toEscape)
    .replace(INNER_FORMULA, toEscape)
  return FORMULA.test(plain) ? `'${plain}` : plain
}

export function fromCell(cell: string): string {
  const text = FORMULA.test(cell) && cell.startsWith("'") ? cell.slice(1) : cell
  return text.replace(ESCAPE, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
