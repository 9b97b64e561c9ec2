/**
 * What may be found of one thing that is written by one client at a time: the state that was acknowledged last, and
 * those asked for since. A write without a clear answer may have happened or not, and may still happen.
 */
export class History<State> {
  /** What could be found from `from` on, until the next. */
  #epochs: { readonly from: number; readonly may: ReadonlySet<State> }[]

  constructor(initial: State) {
    this.#epochs = [{ from: -Infinity, may: new Set([initial]) }]
  }

  get may(): ReadonlySet<State> {
    const last = this.#epochs.at(-1)
    if (last === undefined) throw new Error('a history is never empty')
    return last.may
  }

  /**
   * Notes a write that is about to be sent.
   * @param change what it makes of a state
   * @returns to be called with how it ended: `done` it was acknowledged, `unknown` it may have happened or not
   */
  attempt(change: (state: State) => State): (outcome: 'done' | 'unknown') => void {
    const before = this.may
    const after = new Set([...before].map(change))
    this.#now(new Set([...before, ...after]))
    return (outcome) => {
      if (outcome === 'done') this.#now(after)
    }
  }

  /** What was found at last, when nothing can change any more. */
  settle(state: State): void {
    this.#now(new Set([state]))
  }

  /** What a read may find that began at `since`, seen from a node that may be behind by `lagMs`. */
  mayBeRead(since: number, lagMs: number): ReadonlySet<State> {
    const may = new Set<State>()
    for (const [index, { may: states }] of this.#epochs.entries()) {
      const until = this.#epochs[index + 1]?.from ?? Infinity
      if (until >= since - lagMs) for (const state of states) may.add(state)
    }
    return may
  }

  #now(may: ReadonlySet<State>): void {
    const now = performance.now()
    // Nothing looks back further than a minute.
    this.#epochs = this.#epochs.filter(
      (_, index) => (this.#epochs[index + 1]?.from ?? Infinity) > now - 60_000,
    )
    this.#epochs.push({ from: now, may })
  }
}
