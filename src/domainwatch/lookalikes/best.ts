import type { Found } from './matcher.ts'

export interface Candidate {
  readonly name: string
  readonly cost: number
}

/** Kept beyond those wanted before the worst are thrown away. */
const SLACK = 2_048

/** The so many cheapest, ties by name: the same whatever the order in which they are told. */
export class Best {
  readonly #count: number
  #kept: Candidate[] = []
  /** What costs more is none of them. */
  #most = Infinity
  #isCut = false

  constructor(count: number) {
    this.#count = count
  }

  readonly add: Found = (names, start, end, cost) => {
    if (cost > this.#most) {
      this.#isCut = true
      return
    }
    const name = Buffer.from(names.buffer, names.byteOffset + start, end - start).toString('latin1')
    this.#kept.push({ name, cost })
    if (this.#kept.length >= this.#count + SLACK) this.#cut()
  }

  /** Best first. `isCut` tells whether there were others. */
  done(): { readonly candidates: readonly Candidate[]; readonly isCut: boolean } {
    this.#cut()
    return { candidates: this.#kept, isCut: this.#isCut }
  }

  #cut(): void {
    this.#kept.sort((a, b) => a.cost - b.cost || (a.name < b.name ? -1 : 1))
    if (this.#kept.length <= this.#count) return
    this.#isCut = true
    this.#kept.length = this.#count
    this.#most = this.#kept.at(-1)?.cost ?? Infinity
  }
}
