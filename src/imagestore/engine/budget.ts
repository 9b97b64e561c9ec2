/** Bytes of decode memory promised to jobs. First come, first served, so that a dear job is not starved by cheap ones. */
export class MemoryBudget {
  readonly #total: number
  readonly #waiting: { readonly bytes: number; readonly admit: () => void }[] = []
  #used = 0

  constructor(total: number) {
    this.#total = total
  }

  get used(): number {
    return this.#used
  }

  #fits(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#total
  }

  /** Takes `bytes` at once and true, or nothing and false. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.length > 0 || this.#used + bytes > this.#total) return false
    this.#used += bytes
    return true
  }

  /** Takes `bytes` when they fit, or when nothing else runs: `admit` is called then. Returns how to leave the queue. */
  take(bytes: number, admit: () => void): () => void {
    const entry = { bytes, admit }
    this.#waiting.push(entry)
    this.#admitNext()
    return () => {
      const at = this.#waiting.indexOf(entry)
      if (at >= 0) this.#waiting.splice(at, 1)
      this.#admitNext()
    }
  }

  release(bytes: number): void {
    this.#used -= bytes
    this.#admitNext()
  }

  #admitNext(): void {
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.bytes); next = this.#waiting[0]) {
      this.#waiting.shift()
      this.#used += next.bytes
      next.admit()
    }
  }
}
