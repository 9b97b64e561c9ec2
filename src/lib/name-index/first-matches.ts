import type { IndexQuery } from './query.ts'
import { Scan, type Range } from './scan.ts'
import { type EntryKey, type Hit, type Segment, compareBytes } from './segment.ts'

/** Which part of a list to search. */
export interface Section {
  /** Only entries after this one, in the direction of the search. */
  readonly after?: EntryKey | undefined
  /** Only entries from one to another, inclusive. */
  readonly low?: EntryKey
  readonly high?: EntryKey
}

/** The first matches of a list, merged from its segments, in one direction. */
export function firstMatches(
  segments: readonly Segment[],
  query: IndexQuery,
  limit: number,
  newestFirst: boolean,
  section: Section,
): Hit[] {
  if (query.minLength > query.maxLength) return []
  const scans = segments
    .map((segment) => new Scan(segment, query, rangeOf(segment, query, newestFirst, section), newestFirst))
    .filter((scan) => scan.next())
  const hits: Hit[] = []
  while (hits.length < limit) {
    let [best] = scans
    if (best === undefined) break
    for (const scan of scans) {
      if (scan === best) continue
      const newer = compareHits(scan, best)
      if (newestFirst ? newer > 0 : newer < 0) best = scan
    }
    hits.push({ segment: best.segment, position: best.position })
    if (!best.next()) scans.splice(scans.indexOf(best), 1)
  }
  return hits
}

/** Returns the positions of a segment that a query and a section allow. */
export function rangeOf(
  segment: Segment,
  query: IndexQuery,
  newestFirst: boolean,
  { after, low, high }: Section,
): Range {
  let from = 0
  let to = segment.columns.count
  const { keys, registered } = segment.columns
  const span = keys === registered ? query.registered : query.deleted
  if (span.to !== Infinity) from = segment.lowerBound({ key: span.to }, true)
  if (span.from !== -Infinity) to = segment.lowerBound({ key: span.from }, false)
  if (high !== undefined) from = Math.max(from, segment.lowerBound(high, true))
  if (low !== undefined) to = Math.min(to, segment.lowerBound(low, false))
  if (after !== undefined && newestFirst) from = Math.max(from, segment.lowerBound(after, false))
  if (after !== undefined && !newestFirst) to = Math.min(to, segment.lowerBound(after, true))
  return [from, to]
}

/** Positive if the first is newer. */
function compareHits(one: Hit, other: Hit): number {
  const difference =
    (one.segment.columns.keys[one.position] ?? 0) - (other.segment.columns.keys[other.position] ?? 0)
  return difference === 0 ? compareNames(one, other) : difference
}

/** Compares the names of two records, byte by byte. */
export function compareNames(one: Hit, other: Hit): number {
  const a = one.segment.columns
  const b = other.segment.columns
  return compareBytes(
    a.names,
    a.starts[one.position] ?? 0,
    a.starts[one.position + 1] ?? 0,
    b.names,
    b.starts[other.position] ?? 0,
    b.starts[other.position + 1] ?? 0,
  )
}
