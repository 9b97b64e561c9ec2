/** What may be wrong with an installation. */
export const KINDS = {
  missing: 'recorded images whose bytes are not in the store',
  rotted: 'recorded images whose bytes are not those that were uploaded',
  unreadable: 'recorded images whose bytes could not be read now: nothing is known of them',
  lost: 'images marked as lost before: uploading the same bytes again heals them',
  found: 'images marked as lost whose bytes are in the store again',
  orphaned: 'bytes in the store that no record knows',
  store: 'faults of the store as a whole',
  database: 'faults of the database',
} as const

export type Kind = keyof typeof KINDS

export const isKind = (text: string): text is Kind => text in KINDS

export interface Finding {
  readonly count: number
  /** The first of them: a blob's key, or what is wrong. */
  readonly first: readonly string[]
}

/** Counts what is found and keeps the first of each kind. */
export class Findings {
  readonly #limit: number
  readonly #found = new Map<Kind, { count: number; first: string[] }>()

  /** @param limit kept of each kind */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(kind: Kind, what: string): void {
    const found = this.#found.get(kind) ?? { count: 0, first: [] }
    this.#found.set(kind, found)
    found.count++
    if (found.first.length < this.#limit) found.first.push(what)
  }

  of(kind: Kind): Finding {
    return this.#found.get(kind) ?? { count: 0, first: [] }
  }

  get total(): number {
    return [...this.#found.values()].reduce((sum, { count }) => sum + count, 0)
  }
}
