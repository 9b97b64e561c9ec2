/** The kinds of faults that an instance can have. */
export const KINDS = {
  missing: 'recorded images whose bytes are not in the store',
  rotted: 'recorded images whose bytes are not those that were uploaded',
  unreadable: 'recorded images whose bytes could not be read, so that they are unverified',
  lost: 'images marked as lost earlier: uploading the same bytes again restores them',
  found: 'images marked as lost whose bytes are in the store again',
  orphaned: 'bytes in the store without a record',
  store: 'faults of the store as a whole',
  database: 'faults of the database',
} as const

export type Kind = keyof typeof KINDS

export const isKind = (text: string): text is Kind => text in KINDS

export interface Finding {
  readonly count: number
  /** The first ones: a blob's key, or a description. */
  readonly first: readonly string[]
}

/** Counts the findings of each kind and keeps the first ones. */
export class Findings {
  readonly #limit: number
  readonly #found = new Map<Kind, { count: number; first: string[] }>()

  /** @param limit number of findings of each kind to keep */
  constructor(limit: number) {
    this.#limit = limit
  }

  add(kind: Kind, description: string): void {
    const found = this.#found.get(kind) ?? { count: 0, first: [] }
    this.#found.set(kind, found)
    found.count++
    if (found.first.length < this.#limit) found.first.push(description)
  }

  of(kind: Kind): Finding {
    return this.#found.get(kind) ?? { count: 0, first: [] }
  }

  get total(): number {
    return [...this.#found.values()].reduce((sum, { count }) => sum + count, 0)
  }
}
