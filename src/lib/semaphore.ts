import { OverloadError } from './errors.ts'

/**
 * Limits how many tasks run at a time, first come first served. Rejects with OverloadError if `capacity` tasks are waiting
 * already, or after waiting for `timeoutMs`.
 */
export class Semaphore {
  #waiting: { start: () => void; timer: NodeJS.Timeout }[] = []
  #free: number
  readonly #capacity: number
  readonly #timeoutMs: number

  constructor(count: number, capacity: number, timeoutMs: number) {
    this.#free = count
    this.#capacity = capacity
    this.#timeoutMs = timeoutMs
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  /** Acquires a permit. Returns a function that releases it, which may be called more than once. */
  async acquire(): Promise<() => void> {
    await this.#enter()
    let taken = true
    return () => {
      if (taken) this.#leave()
      taken = false
    }
  }

  #enter(): Promise<void> {
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve()
    }
    if (this.#waiting.length >= this.#capacity) return Promise.reject(new OverloadError())
    return new Promise((resolve, reject) => {
      const entry = {
        start: resolve,
        timer: setTimeout(() => {
          this.#waiting = this.#waiting.filter((other) => other !== entry)
          reject(new OverloadError())
        }, this.#timeoutMs),
      }
      this.#waiting.push(entry)
    })
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) {
      this.#free++
      return
    }
    clearTimeout(next.timer)
    next.start()
  }
}

/** The share of one process in a limit on all processes of this instance: at least 1. */
export function perProcessShare(total: number, processes: number): number {
  return Math.max(1, Math.floor(total / processes))
}

/** One task at a time. */
export class Mutex extends Semaphore {
  constructor(capacity: number, timeoutMs: number) {
    super(1, capacity, timeoutMs)
  }
}
