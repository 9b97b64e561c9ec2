import type { BodyPace } from './budget.ts'

/** Watches that a transfer is not slower than it may be, on average over each window of time. */
export class PaceWatch {
  readonly #leastBytes: number
  readonly #timer: NodeJS.Timeout | undefined
  #bytes = 0

  constructor({ bytesPerSecond, windowMs }: BodyPace, onTooSlow: () => void) {
    this.#leastBytes = (bytesPerSecond * windowMs) / 1_000
    if (bytesPerSecond === 0) return
    const timer = setTimeout(() => {
      if (this.#bytes < this.#leastBytes) return onTooSlow()
      this.#bytes = 0
      timer.refresh()
    }, windowMs)
    this.#timer = timer.unref()
  }

  count(bytes: number): void {
    this.#bytes += bytes
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
