/** Filters as they are stored: the texts of the parameters. */
export type SavedFilters = Readonly<Record<string, string>>

/** Returns the given filters, to be stored. */
export function serializeFilters(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

export function parseSavedFilters(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}
