import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Hit } from './answer.ts'
import type { Places } from './read-changes.ts'
import type { Segment } from './segment.ts'
import type { Shelf } from './shelf.ts'

/** Work on the event loop is cut into slices of this length. */
const SLICE_MS = 4
/** Looks at the clock come between so many records. */
const SLICE_RECORDS = 256

/** Where the records stand that are at these places. */
export async function locate(shelf: Shelf, { names, keys }: Places): Promise<Hit[]> {
  const found: Hit[] = []
  const slice = new Slice()
  for (const [i, name] of names.entries()) {
    const hit = shelf.find({ key: keys[i] ?? 0, name: new Uint8Array(Buffer.from(name, 'latin1')) })
    if (hit !== undefined) found.push(hit)
    if (i % SLICE_RECORDS === 0) await slice.end()
  }
  return found
}

/** Takes out of the merged segment what was taken out of the old one since it was `before`. */
export async function removeAlike(merged: Segment, old: Segment, before: Uint32Array): Promise<void> {
  const slice = new Slice()
  for (const [word, bits] of before.entries()) {
    const gone = bits & ~(old.live[word] ?? 0)
    if (gone === 0) continue
    for (let bit = 0; bit < 32; bit++) {
      if ((gone & (1 << bit)) === 0) continue
      const position = (word << 5) + bit
      merged.remove(merged.find({ key: old.columns.keys[position] ?? 0, name: old.nameOf(position) }))
    }
    await slice.end()
  }
}

/** Lets others have the event loop when a slice of time is over. */
class Slice {
  #end = performance.now() + SLICE_MS

  async end(): Promise<void> {
    if (performance.now() < this.#end) return
    await nextTurn()
    this.#end = performance.now() + SLICE_MS
  }
}
