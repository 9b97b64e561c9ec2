import type { SplitName } from '../words/dictionary.ts'

/** Marks of a skeleton, which no name contains. */
const WORDS = '*'
const NUMBER = '#'
/** Shorter words begin or end too many names by chance. */
const MIN_WORD = 4
/** Letters that must be left: fewer are shared by chance. */
const MIN_LEFT = 3
/** Skeletons of a name with several parts that can be read in several ways. */
const MAX_SKELETONS = 32

/**
 * Returns the name with `*` for dictionary words and `#` for numbers: `*-xkq#` for `pago-xkq24`. Letters that only begin or
 * end with words can be read in several ways. None if no mark or too little else is left.
 */
export function toSkeletons(name: string, split: SplitName): readonly string[] {
  let skeletons = ['']
  for (const part of name.match(/\d+|-|[^\d-]+/g) ?? []) {
    const readings = part === '-' ? [part] : toReadings(part, split)
    skeletons = skeletons
      .flatMap((skeleton) => readings.map((reading) => skeleton + reading))
      .slice(0, MAX_SKELETONS)
  }
  return skeletons.filter(
    (skeleton) => /[*#]/.test(skeleton) && skeleton.replaceAll(/[-*#]/g, '').length >= MIN_LEFT,
  )
}

/** Replaces a number, letters that consist of words, or words that they begin or end with. */
function toReadings(part: string, split: SplitName): readonly string[] {
  if (/\d/.test(part)) return [NUMBER]
  if (split(part).length > 0) return [WORDS]
  const readings = [part]
  for (let length = part.length - 1; length >= MIN_WORD; length--) {
    if (split(part.slice(0, length)).length > 0) readings.push(WORDS + part.slice(length))
    if (split(part.slice(-length)).length > 0) readings.push(part.slice(0, -length) + WORDS)
  }
  return readings
}
