/** Counts what is under way for each client, so that one of them cannot take all the room. */
export class Crowd {
  readonly #most: number
  readonly #present = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** Does the work, unless there is too much under way for this client: undefined then. */
  async enter<T>(client: string, work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    const present = this.#present.get(client) ?? 0
    if (present >= this.#most) return undefined
    this.#present.set(client, present + 1)
    try {
      return { result: await work() }
    } finally {
      const left = (this.#present.get(client) ?? 1) - 1
      if (left === 0) this.#present.delete(client)
      else this.#present.set(client, left)
    }
  }
}
