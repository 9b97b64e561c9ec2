import { Overload } from './errors.ts'

/**
 * One task at a time, first come first served, with both ends bounded: past `capacity` waiting tasks, or
 * after `timeoutMs` in line, the caller is refused instead of piling up.
 */
export class Mutex {
  #waiting: { start: () => void; timer: NodeJS.Timeout }[] = []
  #busy = false
  readonly #capacity: number
  readonly #timeoutMs: number

  constructor(capacity: number, timeoutMs: number) {
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

  #enter(): Promise<void> {
    if (!this.#busy) {
      this.#busy = true
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
      this.#busy = false
      return
    }
    clearTimeout(next.timer)
    next.start()
  }
}
