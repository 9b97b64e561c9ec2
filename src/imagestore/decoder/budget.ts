/** Which part of the memory a job draws on. */
export type Lane = 'usual' | 'heavy'

interface Waiter {
  readonly bytes: number
  readonly admit: () => void
}

/** Part of the memory that heavy jobs cannot take from usual ones. */
const USUAL_SHARE = 1 / 4

/**
 * Bytes of decode memory promised to jobs. Heavy jobs leave a quarter to usual ones, which therefore never wait for a heavy
 * one to end; usual jobs may borrow the rest while no heavy job has or wants it. Within a lane jobs are admitted in their
 * order, so that a large one is not starved by small ones. A single heavy job may need more than three quarters: then all
 * together may take a quarter more than `total`.
 */
export class MemoryBudget {
  readonly #total: number
  readonly #reserve: number
  readonly #used = { usual: 0, heavy: 0 }
  readonly #waiting: Readonly<Record<Lane, Waiter[]>> = { usual: [], heavy: [] }

  constructor(total: number) {
    this.#total = total
    this.#reserve = total * USUAL_SHARE
  }

  get used(): number {
    return this.#used.usual + this.#used.heavy
  }

  /** Jobs of a lane that wait for memory. */
  waiting(lane: Lane): number {
    return this.#waiting[lane].length
  }

  /** Takes `bytes` for a usual job if that leaves enough to everybody. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.usual.length > 0 || !this.#hasRoom('usual', bytes)) return false
    this.#used.usual += bytes
    return true
  }

  /** Takes `bytes` when they fit, or when nothing else runs in the lane: calls `admit` then. Returns how to stop waiting. */
  take(lane: Lane, bytes: number, admit: () => void): () => void {
    const entry = { bytes, admit }
    this.#waiting[lane].push(entry)
    this.#admitNext()
    return () => {
      const at = this.#waiting[lane].indexOf(entry)
      if (at >= 0) this.#waiting[lane].splice(at, 1)
      this.#admitNext()
    }
  }

  release(lane: Lane, bytes: number): void {
    this.#used[lane] -= bytes
    this.#admitNext()
  }

  /** Charges memory of a usual job to the heavy lane, where its job has moved. */
  makeHeavy(bytes: number): void {
    this.#used.heavy += bytes
    this.release('usual', bytes)
  }

  #hasRoom(lane: Lane, bytes: number): boolean {
    const { usual, heavy } = this.#used
    if (lane === 'heavy') return heavy + bytes + Math.max(usual, this.#reserve) <= this.#total
    const isBorrowed = this.#waiting.heavy.length === 0 && usual + heavy + bytes <= this.#total
    return isBorrowed || usual + bytes <= this.#reserve
  }

  /** A job alone in its lane runs whatever it takes, once usual jobs have returned what they borrowed. */
  #fits(lane: Lane, bytes: number): boolean {
    const isAlone = this.#used[lane] === 0 && (lane === 'usual' || this.#used.usual <= this.#reserve)
    return isAlone || this.#hasRoom(lane, bytes)
  }

  #admitNext(): void {
    for (const lane of ['heavy', 'usual'] as const) {
      const waiting = this.#waiting[lane]
      for (let next = waiting[0]; next !== undefined && this.#fits(lane, next.bytes); next = waiting[0]) {
        waiting.shift()
        this.#used[lane] += next.bytes
        next.admit()
      }
    }
  }
}
