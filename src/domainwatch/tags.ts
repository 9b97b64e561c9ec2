/** Tags as a column holds them: a space before and after each, so that one `contains` finds an exact tag. */
export function joinTags(tags: readonly string[]): string | null {
  return tags.length === 0 ? null : ` ${tags.join(' ')} `
}

/** Reverses `joinTags`. */
export function splitTags(column: string | null): readonly string[] {
  return column === null ? [] : column.trim().split(' ')
}
