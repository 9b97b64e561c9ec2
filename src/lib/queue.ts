import { Overload } from './errors.ts'

/**
 * So many tasks at a time, first come first served, with both ends bounded: past `capacity` waiting tasks, or
 * after `timeoutMs` in line, the caller is refused instead of piling up.
 */
export class Slots {
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

  /** Takes a slot for longer than a call lasts. Returns what gives it back; calling that twice is no fault. */
  async take(): Promise<() => void> {
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
    if (this.#waiting.length >= this.#capacity) return Promise.reject(new Overload())
    return new Promise((resolve, reject) => {
      const entry = {
        start: resolve,
        timer: setTimeout(() => {
          this.#waiting = this.#waiting.filter((other) => other !== entry)
          reject(new Overload())
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

/** What one of so many processes has of a bound that holds for all of them: at least one. */
export function share(total: number, processes: number): number {
  return Math.max(1, Math.floor(total / processes))
}

/** One task at a time. */
export class Mutex extends Slots {
  constructor(capacity: number, timeoutMs: number) {
    super(1, capacity, timeoutMs)
  }
}
