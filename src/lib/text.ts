/** Returns a count with its noun, such as `1 record`. @param noun its plural is regular */
export const countOf = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

/** The URL of a server. @param host a name or an address; one of IPv6 gets its brackets */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Whether both databases store `text` unchanged: PostgreSQL cannot store U+0000, and UTF-8 cannot encode a lone surrogate. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether `text` has at most this many code points, as JSON Schema counts. Takes constant time for texts that are far too long. */
export function hasAtMostCharacters(text: string, characters: number): boolean {
  if (text.length <= characters || text.length > 2 * characters) return text.length <= characters
  return [...text].length <= characters
}

const REFERENCES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML and XML, in elements and in attributes. @param special which characters to escape */
export const escapeHtml = (text: string, special = /[&<>"]/g): string =>
  text.replaceAll(special, (character) => REFERENCES[character] ?? character)

/** The known name with the smallest edit distance to `name`, whatever its case. */
export function closestName(name: string, known: readonly string[]): string {
  const folded = name.toLowerCase()
  return known.reduce((best, candidate) =>
    distance(folded, candidate.toLowerCase()) < distance(folded, best.toLowerCase()) ? candidate : best,
  )
}

/** The known name that `name` is probably a typo of: at most half of its letters differ, and at most four. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const best = closestName(name, known)
  const limit = Math.min(4, Math.max(1, Math.floor(name.length / 2)))
  return distance(name.toLowerCase(), best.toLowerCase()) <= limit ? best : undefined
}

/** What it costs to swap two neighbours: a little less than another letter: the letters are right. */
const SWAP_COST = 0.9

/** Levenshtein distance with swaps of neighbours, a row at a time. */
function distance(a: string, b: string): number {
  let previous: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwapped ? (previous[j - 2] ?? Infinity) + SWAP_COST : Infinity
      next.push(Math.min(substitution, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    previous = row
    row = next
  }
  return row[b.length] ?? 0
}
