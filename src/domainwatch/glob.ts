import type { GlobPart } from '../storage/database/dialect.ts'

const MANY: GlobPart = { wild: 'many' }
const ONE: GlobPart = { wild: 'one' }

/** Splits a pattern with `*` and `?`. Consecutive stars are one. */
export function globParts(pattern: string): readonly GlobPart[] {
  return (pattern.match(/\*+|\?|[^*?]+/g) ?? []).map((part) =>
    part.startsWith('*') ? MANY : part === '?' ? ONE : part,
  )
}

export const startingWith = (text: string): readonly GlobPart[] => [text, MANY]
export const endingWith = (text: string): readonly GlobPart[] => [MANY, text]

/**
 * Whether the pattern matches the whole text. On a mismatch only the last star before it is extended by one
 * character, since extending an earlier one could gain nothing. The time is at most the product of the lengths,
 * whatever the pattern.
 */
export function matchesGlob(text: string, pattern: string): boolean {
  let at = 0
  let place = 0
  let star = -1
  let starAt = 0
  while (at < text.length) {
    const wanted = pattern[place]
    if (wanted === '*') {
      star = place++
      starAt = at
    } else if (wanted === '?' || wanted === text[at]) {
      place++
      at++
    } else if (star >= 0) {
      place = star + 1
      at = ++starAt
    } else return false
  }
  while (pattern[place] === '*') place++
  return place === pattern.length
}
