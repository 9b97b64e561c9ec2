/**
 * The characters of names as numbers: those of the alphabet of .cl, then the two edges of a name, so that texts at the
 * beginning or the end of a name are found by pairs and triples as well.
 */
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789-áéíóúüñ'

export const BEGIN = LETTERS.length
export const END = LETTERS.length + 1
export const SYMBOLS = LETTERS.length + 2

/** Marks a character that no name has. */
export const NO_SYMBOL = 255

/** By Latin-1 code. */
export const SYMBOL_OF = new Uint8Array(256).fill(NO_SYMBOL)
for (const [symbol, letter] of [...LETTERS].entries()) SYMBOL_OF[letter.charCodeAt(0)] = symbol

/** Whether a name can have this character. */
export function isLetter(character: string): boolean {
  const code = character.charCodeAt(0)
  return code <= 0xff && SYMBOL_OF[code] !== NO_SYMBOL
}
