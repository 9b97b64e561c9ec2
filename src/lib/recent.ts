/**
 * Keeps about the `max` values used last. Two generations: what is looked up in the old one moves to the new one, and when that
 * is full the old one goes. A look is one look into a map, which a list in the order of use costs several times of.
 */
export class Recent<V extends {}> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** @param max values kept; at least half of them are the ones used last */
  constructor(max: number) {
    this.#half = Math.ceil(max / 2)
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#half && !this.#young.has(key)) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }
}
