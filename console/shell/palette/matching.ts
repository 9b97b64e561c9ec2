import { fold } from '../../features/filters/filters.ts'

/** Returns the entries whose labels contain every word of the text, matches at the start of words first. */
export function matching<T extends { readonly label: string }>(entries: readonly T[], text: string): T[] {
  const words = fold(text)
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return [...entries]
  const rankOf = (label: string): number => {
    const folded = fold(label)
    if (!words.every((word) => folded.includes(word))) return -1
    return words.filter((word) => ` ${folded}`.includes(` ${word}`)).length
  }
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry.label) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ entry }) => entry)
}
