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
      // Characters of names are octets of Latin-1.
      let hash = name.length
      for (let i = 0; i < name.length; i++) hash = addOctet(hash, name.charCodeAt(i))
      hash = toBit(hash)
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
    const [from, to] = [starts[position] ?? 0, starts[position + 1] ?? 0]
    let hash = to - from
    for (let at = from; at < to; at++) hash = addOctet(hash, names[at] ?? 0)
    hash = toBit(hash)
    if (((this.#marks[hash >>> 5] ?? 0) & (1 << (hash & 31))) === 0) return false
    return this.#names.has(nameOfHit({ segment, position }))
  }
}

const addOctet = (hash: number, octet: number): number => (Math.imul(hash, 31) + octet) | 0
const toBit = (hash: number): number => (hash ^ (hash >>> 15)) & (BITS - 1)
