/** What the DNS said of a name, from the first to the last moment that it did, milliseconds since 1970. */
export interface Sighting {
  readonly first: number
  readonly last: number
  /** A JSON array of host names; null where there is no such name. */
  readonly servers: string | null
}

export interface Placed {
  /** What is to be stored, in place of what begins at the same moment. */
  readonly entry: Sighting
  /** The beginning of an entry that this one takes the place of. */
  readonly instead?: number
  /** Whether there is one entry more. */
  readonly isNew: boolean
}

/**
 * Where a sighting belongs among those that are known. It prolongs the entry before it where that says the same. As nodes
 * write down what they saw in any order, one that comes late may also begin the entry behind it earlier, or stand between
 * two.
 * @param earlier the last entry that begins no later
 * @param later the first that begins later
 */
export function place(
  seen: Sighting,
  earlier: Sighting | undefined,
  later: Sighting | undefined,
): Placed | undefined {
  if (earlier !== undefined && earlier.servers === seen.servers) {
    return seen.last > earlier.last ? { entry: { ...earlier, last: seen.last }, isNew: false } : undefined
  }
  if (later !== undefined && later.servers === seen.servers) {
    return {
      entry: { ...later, first: seen.first, last: Math.max(later.last, seen.last) },
      instead: later.first,
      isNew: false,
    }
  }
  // Two that differ cannot begin at once: moments tell them apart.
  const first = earlier?.first === seen.first ? seen.first + 1 : seen.first
  return { entry: { ...seen, first, last: Math.max(first, seen.last) }, isNew: true }
}
