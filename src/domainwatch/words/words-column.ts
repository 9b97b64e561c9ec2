/** Returns the words of a name; none if it cannot be split. */
export type SplitName = (name: string) => readonly string[]

/**
 * The words of a name as the database has them: with a space before and after each (` casa venta `), so that one `contains`
 * finds a word. Null if the name cannot be split.
 */
export function toColumn(words: readonly string[]): string | null {
  return words.length === 0 ? null : ` ${words.join(' ')} `
}
