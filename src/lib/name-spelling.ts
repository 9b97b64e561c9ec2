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

/** Whether a name has this shape, in which `L` stands for a consonant or a vowel. */
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
