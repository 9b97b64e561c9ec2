/** A worker that ended is replaced after a pause, which doubles with each that ended in the last minute. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 10_000
const MINUTE = 60_000
/** Who has served for so long did not die of its start. */
const STEADY_MS = 10_000
/** So many early deaths for each worker, while none is steady, and it is no accident: whoever supervises the service must know. */
const MAX_EARLY = 5

export interface Death {
  /** When; all times in milliseconds. */
  readonly now: number
  /** Since when it served; undefined when it never did. */
  readonly served: number | undefined
  /** Since when the others serve. */
  readonly others: Iterable<number>
}

/** Tells when a worker that ended is replaced, and when that is no use any more. */
export class Restarts {
  readonly #maxEarly: number
  #deaths: number[] = []
  /** Deaths of workers that had only begun, since there was one that had not. */
  #early = 0

  constructor(workers: number) {
    this.#maxEarly = MAX_EARLY * workers
  }

  /** @returns after how many milliseconds it is replaced; undefined when all is to end */
  pauseAfter({ now, served, others }: Death): number | undefined {
    const isSteady = (since: number) => now - since >= STEADY_MS
    const anySteady = [...(served === undefined ? [] : [served]), ...others].some(isSteady)
    this.#early = anySteady ? 0 : this.#early + 1
    if (this.#early > this.#maxEarly) return undefined
    this.#deaths = [...this.#deaths.filter((at) => now - at < MINUTE), now]
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#deaths.length - 1))
  }
}
