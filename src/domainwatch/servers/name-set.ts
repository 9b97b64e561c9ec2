import type { Segment } from '../../lib/name-index/index.ts'
import type { Condition } from '../filter-kinds.ts'
import { nameOfHit } from '../list/hits.ts'

/** Bits that hashes of names are marked in: names that are not in the set mostly fail here, before their text is read. */
const BITS = 1 << 20

let sets = 0

/** A set of names that a list is limited to. */
export class NameSet implements Condition {
  readonly #names: ReadonlySet<string>
  readonly #marks = new Uint32Array(BITS / 32)
  readonly #id = ++sets
  readonly index = {
    kind: 'record' as const,
    test: (segment: Segment, position: number) => this.#hasHit(segment, position),
  }

  constructor(names: ReadonlySet<string>) {
    this.#names = names
    for (const name of names) {
      const octets = Buffer.from(name, 'latin1')
      const hash = hashOf(octets, 0, octets.length)
      this.#marks[hash >>> 5] = (this.#marks[hash >>> 5] ?? 0) | (1 << (hash & 31))
    }
  }

  matches = ({ name }: { readonly name: string }): boolean => this.#names.has(name)

  /** Tells sets apart in keys of caches. */
  toJSON(): number {
    return this.#id
  }

  #hasHit(segment: Segment, position: number): boolean {
    const { names, starts } = segment.columns
    const hash = hashOf(names, starts[position] ?? 0, starts[position + 1] ?? 0)
    if (((this.#marks[hash >>> 5] ?? 0) & (1 << (hash & 31))) === 0) return false
    return this.#names.has(nameOfHit({ segment, position }))
  }
}

function hashOf(octets: Uint8Array, start: number, end: number): number {
  let hash = end - start
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (octets[i] ?? 0)) | 0
  return (hash ^ (hash >>> 15)) & (BITS - 1)
}
