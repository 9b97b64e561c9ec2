import { MAX_RECORDS, type Columns } from './columns.ts'
import { Segment, type Place } from './segment.ts'
import type { Hit } from './answer.ts'

/** Segments that are merged at once, at least: fewer make more work, more make every list look in more places. */
const LEAST_MERGED = 3
/** A segment joins smaller ones when it is at most this many times as large as they are together. */
const GROWTH = 2
/** From this many records on, a segment of which most are no longer so is written anew. */
const LEAST_REWRITTEN = 10_000

/** The records of one list, in segments: what comes is put beside what is there, and merged with it later. */
export class Shelf {
  #segments: readonly Segment[] = []

  get segments(): readonly Segment[] {
    return this.#segments
  }

  get alive(): number {
    return this.#segments.reduce((sum, { alive }) => sum + alive, 0)
  }

  get bytes(): number {
    return this.#segments.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  find(place: Place): Hit | undefined {
    for (const segment of this.#segments) {
      const position = segment.find(place)
      if (position >= 0) return { segment, position }
    }
    return undefined
  }

  /** Takes records out and puts others in, all at once. */
  change(removed: readonly Hit[], added: Columns): void {
    for (const { segment, position } of removed) segment.remove(position)
    if (added.count > 0) this.#segments = [...this.#segments, new Segment(added)]
    if (removed.length > 0) this.#segments = this.#segments.filter(({ alive }) => alive > 0)
  }

  /** Puts one segment in the place of those that it was made of. */
  replace(old: readonly Segment[], merged: Segment): void {
    const kept = this.#segments.filter((segment) => !old.includes(segment))
    this.#segments = merged.alive > 0 ? [...kept, merged] : kept
  }

  /** Puts these in the place of all. */
  fill(segments: readonly Segment[]): void {
    this.#segments = segments
  }

  clear(): void {
    this.#segments = []
  }

  /** The segments to be merged next; none when all is well. */
  toMerge(): readonly Segment[] {
    const bySize = this.#segments.toSorted((one, other) => one.alive - other.alive)
    const group: Segment[] = []
    let sum = 0
    for (const segment of bySize) {
      const fits = sum + segment.alive <= MAX_RECORDS && segment.alive <= GROWTH * sum
      if (group.length > 0 && !fits) {
        if (group.length >= LEAST_MERGED) break
        // Too few so far: those that follow may be of a size with each other.
        group.length = 0
        sum = 0
      }
      group.push(segment)
      sum += segment.alive
    }
    if (group.length >= LEAST_MERGED) return group
    const waste = this.#segments.find(
      ({ alive, columns }) => columns.count >= LEAST_REWRITTEN && alive < columns.count / 2,
    )
    return waste === undefined ? [] : [waste]
  }
}
