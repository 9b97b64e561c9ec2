import { popcount, type Hash64 } from '../../src/lib/perceptual-hash/index.ts'

const BITS = 64

/** A Burkhard-Keller tree of 64-bit hashes by Hamming distance, which most libraries use to find near hashes. */
export class BkTree {
  /** Two 32-bit halves per hash, the lower one first. */
  readonly #hashes: Uint32Array
  /** The index of each node's first child and next sibling. 0 means none, as the root is neither. */
  readonly #child: Uint32Array
  readonly #sibling: Uint32Array
  /** Distance of each node from its parent. */
  readonly #edge: Uint8Array

  constructor(halves: Uint32Array) {
    const count = halves.length / 2
    this.#hashes = halves
    this.#child = new Uint32Array(count)
    this.#sibling = new Uint32Array(count)
    this.#edge = new Uint8Array(count)
    for (let node = 1; node < count; node++) this.#insert(node)
  }

  get bytes(): number {
    return this.#hashes.byteLength + this.#child.byteLength + this.#sibling.byteLength + this.#edge.byteLength
  }

  #distance(node: number, low: number, high: number): number {
    return popcount((this.#hashes[node * 2] ?? 0) ^ low) + popcount((this.#hashes[node * 2 + 1] ?? 0) ^ high)
  }

  #insert(node: number): void {
    const [low, high] = [this.#hashes[node * 2] ?? 0, this.#hashes[node * 2 + 1] ?? 0]
    for (let parent = 0; ;) {
      const distance = this.#distance(parent, low, high)
      // Duplicates share a node.
      if (distance === 0) return
      let child = this.#child[parent] ?? 0
      while (child !== 0 && this.#edge[child] !== distance) child = this.#sibling[child] ?? 0
      if (child === 0) {
        this.#edge[node] = distance
        this.#sibling[node] = this.#child[parent] ?? 0
        this.#child[parent] = node
        return
      }
      parent = child
    }
  }

  /** Counts the different hashes within `distance`. */
  count({ low, high }: Hash64, distance: number): number {
    let found = 0
    const open = [0]
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      const own = this.#distance(node, low, high)
      if (own <= distance) found++
      const [least, most] = [Math.max(0, own - distance), Math.min(BITS, own + distance)]
      for (let child = this.#child[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        const edge = this.#edge[child] ?? 0
        if (edge >= least && edge <= most) open.push(child)
      }
    }
    return found
  }
}
