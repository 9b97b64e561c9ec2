/** Letters that words are made of: a to z and ñ. The other letters of Spanish are compared without their accents. */
const LETTERS = 'abcdefghijklmnopqrstuvwxyzñ'
const ACCENTED = { á: 'a', é: 'e', í: 'i', ó: 'o', ú: 'u', ü: 'u' }

export const NO_LETTER = 255

/** By Latin-1 code, the index of a letter in the alphabet. */
const LETTER_OF = new Uint8Array(256).fill(NO_LETTER)
for (const [index, letter] of [...LETTERS].entries()) LETTER_OF[letter.charCodeAt(0)] = index
for (const [letter, plain] of Object.entries(ACCENTED)) {
  LETTER_OF[letter.charCodeAt(0)] = LETTERS.indexOf(plain)
}

/** The index of a letter, or `NO_LETTER`. */
export const letterOf = (code: number): number => LETTER_OF[code] ?? NO_LETTER
