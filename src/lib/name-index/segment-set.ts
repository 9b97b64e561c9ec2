import { buildColumns, type BuildOptions, type IndexedRecord } from './column-builder.ts'
import type { Layout } from './planes.ts'
import { MergedSearch } from './merged-search.ts'
import { compileQuery } from './query.ts'
import { finishNow, TimeSlice } from './slices.ts'
import { MAX_RECORDS, type Columns } from './columns.ts'
import { Segment, type EntryKey, type Hit } from './segment.ts'

/** Minimum number of segments per merge: fewer cost more work, more make each query search more segments. */
const MIN_MERGED = 3
/** A segment is merged with smaller ones if it is at most this many times as large as they are together. */
const GROWTH = 2
/** From this many records on, a segment is rewritten when most of them are no longer live. */
const MIN_REWRITTEN = 10_000

/** Records of a merge that are held besides their columns. */
const HITS_AT_A_TIME = 1_024

/** Removals between checks of the clock. */
const SLICE_RECORDS = 256

/** The keys of many entries, in a form that is fast to copy between threads. */
export interface EntryKeys {
  readonly names: string[]
  readonly keys: number[]
}

/** The records of one list, as in a log-structured merge tree: changes add segments, which are merged later. */
export class SegmentSet {
  #segments: readonly Segment[] = []

  get segments(): readonly Segment[] {
    return this.#segments
  }

  get liveCount(): number {
    return this.#segments.reduce((sum, { liveCount }) => sum + liveCount, 0)
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Finds the live records with these keys. Yields to other work on the event loop. */
  async locate({ names, keys }: EntryKeys): Promise<Hit[]> {
    const found: Hit[] = []
    const slice = new TimeSlice()
    for (const [i, name] of names.entries()) {
      const hit = this.#find({ key: keys[i] ?? 0, name: new Uint8Array(Buffer.from(name, 'latin1')) })
      if (hit !== undefined) found.push(hit)
      if (i % SLICE_RECORDS === 0) await slice.yieldIfOver()
    }
    return found
  }

  #find(entry: EntryKey): Hit | undefined {
    for (const segment of this.#segments) {
      const position = segment.find(entry)
      if (position >= 0) return { segment, position }
    }
    return undefined
  }

  /** Removes records and adds others, in one step. @returns those that were removed, each once */
  change(removed: readonly Hit[], added: Columns): Hit[] {
    const gone = removed.filter(({ segment, position }) => segment.remove(position))
    if (added.count > 0) this.#segments = [...this.#segments, new Segment(added)]
    if (removed.length > 0) this.#segments = this.#segments.filter(({ liveCount }) => liveCount > 0)
    return gone
  }

  /** Removes all records. */
  clear(): void {
    this.#segments = []
  }

  /** The segments to merge next; empty if there is nothing to do. */
  toMerge(): readonly Segment[] {
    const bySize = this.#segments.toSorted((one, other) => one.liveCount - other.liveCount)
    const group: Segment[] = []
    let sum = 0
    for (const segment of bySize) {
      const isSimilar = segment.liveCount <= GROWTH * sum && sum + segment.liveCount <= MAX_RECORDS
      if (group.length > 0 && !isSimilar) {
        if (group.length >= MIN_MERGED) break
        // Too few so far: the next segments may be of similar size.
        group.length = 0
        sum = 0
      }
      group.push(segment)
      sum += segment.liveCount
    }
    if (group.length >= MIN_MERGED) return group
    const waste = this.#segments.find(
      ({ liveCount, columns }) => columns.count >= MIN_REWRITTEN && liveCount < columns.count / 2,
    )
    return waste === undefined ? [] : [waste]
  }

  /**
   * Replaces segments with one of their merged columns (`mergeParts`), without the records that were removed since. Does nothing if
   * they are no longer those of the set.
   */
  async replace(old: readonly Segment[], parts: readonly SegmentPart[], segment: Segment): Promise<void> {
    for (const [i, from] of old.entries()) await removeAlike(segment, from, parts[i]?.live ?? from.live)
    if (!old.every((one) => this.#segments.includes(one))) return
    const kept = this.#segments.filter((one) => !old.includes(one))
    this.#segments = segment.liveCount > 0 ? [...kept, segment] : kept
  }
}

/** The columns of a segment, and which of their records were live when the snapshot was taken. */
export interface SegmentPart {
  readonly columns: Columns
  readonly live: Uint32Array
}

export const toPart = ({ columns, live }: Segment): SegmentPart => ({ columns, live: live.slice() })

/** Builds columns of the live records of several segments. Runs in any thread. */
export function mergeParts(parts: readonly SegmentPart[], options: BuildOptions): Columns {
  const segments = parts.map(({ columns, live }) => new Segment(columns, live))
  const search = () => new MergedSearch(segments, compileQuery([], options.layout, -Infinity), true, {})
  const sizes = { count: 0, nameBytes: 0 }
  for (const { segment, position } of toHits(search())) {
    sizes.count++
    sizes.nameBytes += segment.getLength(position)
  }
  return buildColumns(toRecords(toHits(search()), options.layout), sizes, options)
}

/** In parts: millions at a time would take more memory than their columns. */
function* toHits(search: MergedSearch): Generator<Hit> {
  for (let isMore = true; isMore;) {
    const hits = finishNow(search.next(HITS_AT_A_TIME))
    yield* hits
    isMore = hits.length === HITS_AT_A_TIME
  }
}

function* toRecords(hits: Iterable<Hit>, layout: Layout): Generator<IndexedRecord> {
  const planes = layout.traits.map((trait) => layout.toPlanes(trait))
  for (const { segment, position } of hits) {
    const { starts, agents, agent, registered, modified, statusAt } = segment.columns
    yield {
      name: segment.textOf(starts[position] ?? 0, starts[position + 1] ?? 0),
      words: segment.toWords(position),
      agent: agents[agent[position] ?? 0] ?? '',
      discardedAt: segment.discardedAt(position),
      registered: registered[position] ?? NaN,
      modified: modified[position] ?? NaN,
      statusAt: statusAt[position] ?? NaN,
      deleted: segment.deletedAt(position),
      tags: segment.toTags(position),
      numbers: segment.numbersOf(position),
      traits: planes.map((place) => segment.toNumber(place, position)),
    }
  }
}

/** Removes from the merged segment the records that were removed from an old one since its live bits were `before`. */
async function removeAlike(merged: Segment, old: Segment, before: Uint32Array): Promise<void> {
  const slice = new TimeSlice()
  for (const [word, bits] of before.entries()) {
    const removed = bits & ~(old.live[word] ?? 0)
    if (removed === 0) continue
    for (let bit = 0; bit < 32; bit++) {
      if ((removed & (1 << bit)) === 0) continue
      const position = (word << 5) + bit
      merged.remove(merged.find({ key: old.columns.keys[position] ?? 0, name: old.nameOf(position) }))
    }
    await slice.yieldIfOver()
  }
}
