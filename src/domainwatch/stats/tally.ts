const MAX_LENGTH = 63
/**
 * Different agents that are counted one by one. A group's are its members; but a record may carry any text as its agent, and
 * what comes past this many is counted with the rest.
 */
const MAX_AGENTS = 10_000

/** How many records there are, and how many of them are so. */
export type Marks = Readonly<Record<'records' | 'bought' | 'reserved' | 'revision' | 'discarded', number>>

/** Counts of records, gathered part by part. */
export class Tally {
  readonly totals = { records: 0, bought: 0, deleted: 0, reserved: 0, revision: 0, discarded: 0 }
  readonly #lengths = new Uint32Array(MAX_LENGTH + 1)
  readonly #agents = new Map<string, number>()

  /** Counts records of a length. */
  addLength(length: number, { records, bought, reserved, revision, discarded }: Marks): void {
    this.#lengths[length] = (this.#lengths[length] ?? 0) + records
    this.totals.records += records
    this.totals.bought += bought
    this.totals.deleted += records - bought
    this.totals.reserved += reserved
    this.totals.revision += revision
    this.totals.discarded += discarded
  }

  /** Says whose they are. */
  addAgent(agent: string, records: number): void {
    const known = this.#agents.get(agent)
    if (records > 0 && (known !== undefined || this.#agents.size < MAX_AGENTS)) {
      this.#agents.set(agent, (known ?? 0) + records)
    }
  }

  /** From the shortest to the longest that there is, those between that nobody has included. */
  lengths(): { readonly length: readonly number[]; readonly count: readonly number[] } {
    const first = this.#lengths.findIndex((count) => count > 0)
    if (first < 0) return { length: [], count: [] }
    const last = this.#lengths.findLastIndex((count) => count > 0)
    const length = Array.from({ length: last - first + 1 }, (_, i) => first + i)
    return { length, count: [...this.#lengths.subarray(first, last + 1)] }
  }

  /** The so many with the most records, ties by name, and how many records the others have. */
  agents(count: number): {
    readonly agent: readonly string[]
    readonly count: readonly number[]
    readonly others: number
  } {
    const most = [...this.#agents]
      .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      .slice(0, count)
    const others = most.reduce((rest, [, records]) => rest - records, this.totals.records)
    return { agent: most.map(([agent]) => agent), count: most.map(([, records]) => records), others }
  }
}
