import type { Hit } from './answer.ts'
import { Plane } from './columns.ts'

/** The largest page there is: `last_register` and `last_deleted` together. */
const MAX_KEPT = 2_048

/**
 * What a page says of its records, column by column. Records that were found far from each other lie nowhere near: read in
 * short loops, many of them are fetched from memory at once, and written one by one each would be waited for.
 */
export class Gathered {
  /** Where each name lies. */
  readonly names: Uint8Array[] = []
  starts = new Uint32Array(MAX_KEPT)
  ends = new Uint32Array(MAX_KEPT)
  registered = new Float64Array(MAX_KEPT)
  modified = new Float64Array(MAX_KEPT)
  /** What each says behind its name, with room for dates at its end (`RecordTexts`). */
  readonly texts: Uint8Array[] = []
  /** The most that all of them take. */
  bytes = 0
  #agents = new Uint32Array(MAX_KEPT)
  #marks = new Uint8Array(MAX_KEPT)

  take(hits: readonly Hit[]): void {
    const count = hits.length
    this.#makeRoom(count)
    const { starts, ends, registered, modified } = this
    const [agents, marks] = [this.#agents, this.#marks]
    for (let i = 0; i < count; i++) {
      const hit = hits[i]
      if (hit === undefined) break
      const { columns, words } = hit.segment
      const { position } = hit
      starts[i] = columns.starts[position] ?? 0
      ends[i] = columns.starts[position + 1] ?? 0
      registered[i] = columns.registered[position] ?? 0
      modified[i] = columns.modified[position] ?? 0
      agents[i] = columns.agent[position] ?? 0
      marks[i] = marksOf(columns.planes, words, position)
    }
    let bytes = 0
    for (let i = 0; i < count; i++) {
      const segment = hits[i]?.segment
      if (segment === undefined) break
      const length = (ends[i] ?? 0) - (starts[i] ?? 0)
      const text = segment.texts.of(length, agents[i] ?? 0, marks[i] ?? 0)
      this.texts[i] = text
      this.names[i] = segment.columns.names
      // In UTF-8 a letter of Latin-1 takes two bytes at most.
      bytes += 2 * length + text.length
    }
    this.bytes = bytes
  }

  /** Lets go of what belongs to segments, which would be kept by it. */
  forget(): void {
    this.texts.length = 0
    this.names.length = 0
  }

  #makeRoom(count: number): void {
    if (count <= this.starts.length) return
    this.starts = new Uint32Array(count)
    this.ends = new Uint32Array(count)
    this.registered = new Float64Array(count)
    this.modified = new Float64Array(count)
    this.#agents = new Uint32Array(count)
    this.#marks = new Uint8Array(count)
  }
}

/** These are the first planes, in the order of an answer. */
function marksOf(planes: Uint32Array, words: number, position: number): number {
  const word = position >>> 5
  const bit = position & 31
  return (
    (((planes[Plane.status * words + word] ?? 0) >>> bit) & 1) |
    ((((planes[Plane.reserved * words + word] ?? 0) >>> bit) & 1) << Plane.reserved) |
    ((((planes[Plane.revision * words + word] ?? 0) >>> bit) & 1) << Plane.revision) |
    ((((planes[Plane.discarded * words + word] ?? 0) >>> bit) & 1) << Plane.discarded)
  )
}
