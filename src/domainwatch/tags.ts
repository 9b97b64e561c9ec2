import { isDisplayName } from '../lib/free-text.ts'
import { hasAtMostCharacters } from '../lib/text.ts'

export const MAX_TAGS = 10
export const MAX_TAG_CHARACTERS = 30

/** Returns a tag as it is stored; undefined if the text is not one. */
export function foldTag(text: string): string | undefined {
  const tag = text.toLowerCase().normalize('NFC')
  const isTag = /^[\p{L}\p{N}-]+$/u.test(tag) && isDisplayName(tag)
  return isTag && hasAtMostCharacters(tag, MAX_TAG_CHARACTERS) ? tag : undefined
}

/** Returns a column's value for tags, or for the words of a name: a space before and after each, so that `contains` finds one. */
export function toColumn(words: readonly string[]): string | null {
  return words.length === 0 ? null : ` ${words.join(' ')} `
}

/** Reverses `toColumn`. */
export function splitTags(column: string | null): readonly string[] {
  return column === null ? [] : column.trim().split(' ')
}
