/** Which test files words select, and what a run of some tiers leaves out of them. */
import { getPasses, testFiles, getTiers, type Tier } from './tiers.ts'

/** Files named in a hint; more are counted. */
const MAX_NAMED = 3

/** Returns whether the path of a file contains one of the words, or there are no words. */
export const toSelector =
  (words: readonly string[]) =>
  (file: string): boolean =>
    words.length === 0 || words.some((word) => isIn(file, word))

const isIn = (file: string, word: string) => file.includes(word.replace(/^\.\//, ''))

/** Returns the command that runs a tier. */
export const commandOf = (tier: Tier): string => (tier === 'default' ? 'npm test' : `npm run test:${tier}`)

/** Returns a line for each word that is in no path, and for each tier that would run files which these tiers leave out. */
export function selectionHints(words: readonly string[], tiers: readonly Tier[]): string[] {
  const files = [...getTiers(testFiles())]
  const hints = words
    .filter((word) => !files.some(([file]) => isIn(file, word)))
    .map((word) => `No test file has ${word} in its path.`)
  if (words.length === 0) return hints
  const isSelected = toSelector(words)
  const run = new Set(tiers.flatMap((tier) => getPasses(tier, isSelected)).flatMap((pass) => pass.files))
  const left = Map.groupBy(
    files.filter(([file]) => isSelected(file) && !run.has(file)),
    ([, tier]) => tier,
  )
  for (const [tier, ofTier] of left) {
    const named = ofTier.slice(0, MAX_NAMED).map(([file]) => file)
    const more = ofTier.length > MAX_NAMED ? ` and ${ofTier.length - MAX_NAMED} more` : ''
    hints.push(`Not run: ${named.join(', ')}${more}. Use ${commandOf(tier)} -- ${words.join(' ')}`)
  }
  return hints
}
