/** The known name with the smallest edit distance to `name`. */
export function closestName(name: string, known: readonly string[]): string {
  return known.reduce((best, candidate) =>
    distance(name, candidate) < distance(name, best) ? candidate : best,
  )
}

/** The known name that `name` is probably a typo of: at most half of its letters differ, and at most four. */
export function suggestion(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined
  const best = closestName(name, known)
  const limit = Math.min(4, Math.max(1, Math.floor(name.length / 2)))
  return distance(name, best) <= limit ? best : undefined
}

/** Levenshtein distance, one row at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
