import type { OnMatch } from './matcher.ts'

export interface Match {
  readonly name: string
  readonly cost: number
}

/** Matches kept beyond those wanted before the worst are dropped. */
const SLACK = 2_048

/** Keeps the `limit` cheapest matches, ties by name: the same ones in whatever order they are added. */
export class BestMatches {
  readonly #limit: number
  #matches: Match[] = []
  #maxCost = Infinity
  #isCut = false

  constructor(limit: number) {
    this.#limit = limit
  }

  readonly add: OnMatch = (names, start, end, cost) => {
    if (cost > this.#maxCost) {
      this.#isCut = true
      return
    }
    const name = Buffer.from(names.buffer, names.byteOffset + start, end - start).toString('latin1')
    this.#matches.push({ name, cost })
    if (this.#matches.length >= this.#limit + SLACK) this.#cut()
  }

  /** Returns the matches, best first, and whether there were others. */
  result(): { readonly matches: readonly Match[]; readonly isCut: boolean } {
    this.#cut()
    return { matches: this.#matches, isCut: this.#isCut }
  }

  #cut(): void {
    this.#matches.sort((a, b) => a.cost - b.cost || (a.name < b.name ? -1 : 1))
    if (this.#matches.length <= this.#limit) return
    this.#isCut = true
    this.#matches.length = this.#limit
    this.#maxCost = this.#matches.at(-1)?.cost ?? Infinity
  }
}
