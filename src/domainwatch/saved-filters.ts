/** Filters as they are stored: the texts of the parameters. */
export type SavedFilters = Readonly<Record<string, string>>

type FilterValue = string | number | boolean | undefined

/** Returns the given filters, to be stored. */
export function serializeFilters(
  values: Readonly<Record<string, FilterValue | Readonly<Record<string, number>>>>,
): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    // Parameters whose names follow a pattern.
    if (typeof value === 'object') Object.assign(saved, serializeFilters(value))
    else if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

export function parseSavedFilters(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}
