/**
 * What lists of the registry determine, in the plainest way: every statement is kept, and every question is answered from
 * all of it. Times are milliseconds since 1970.
 */

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A list as it was read. */
export interface ReadList {
  readonly source: string
  readonly windowMs: number
  readonly at: number
  readonly names: readonly string[]
  /** Read to its end. */
  readonly isWhole: boolean
  /** Reading stopped in between, and was not continued. */
  readonly isAbandoned: boolean
}

type Told =
  | { readonly kind: 'deletion'; readonly earliest: number; readonly at: number }
  | { readonly kind: 'registration'; readonly at: number }
  | {
      readonly kind: 'statement'
      readonly status: 0 | 1
      readonly at: number
      /** When the last deletion became known before. */
      readonly deletedAt: number
    }

export class ListsModel {
  readonly #told = new Map<string, Told[]>()
  readonly #deletions: ReadList[] = []
  readonly #complete: ReadList[] = []
  /** When the last deletion of each name became known. */
  readonly #deletedAt = new Map<string, number>()

  /** Whether the list changes nothing: its source has a later one, or the same. */
  isSkipped({ source, at, names }: ReadList): boolean {
    const last = this.#deletions.findLast((list) => list.source === source && !list.isAbandoned)
    if (last === undefined) return false
    return at <= last.at || JSON.stringify(names) === JSON.stringify(last.names)
  }

  readDeletions(list: ReadList): void {
    if (this.isSkipped(list)) return
    const before = this.#complete.findLast(({ source }) => source === list.source)
    for (const name of list.names) {
      const windowStart = list.at - list.windowMs - DAY
      const lacked = before !== undefined && !before.names.includes(name)
      const earliest = lacked ? Math.max(windowStart, before.at - HOUR) : windowStart
      const wasFree = this.status(name) === 0
      this.#tell(name, { kind: 'deletion', earliest, at: list.at })
      const isFreed = !wasFree && this.status(name) === 0
      // It is another deletion if the last one was known before.
      if (isFreed || earliest >= this.#lastDeletion(name)) this.#deletedAt.set(name, list.at)
    }
    this.#deletions.push(list)
    const isComplete =
      list.isWhole && !list.isAbandoned && list.names.length >= (before?.names.length ?? 0) / 2
    if (isComplete) this.#complete.push(list)
  }

  readRegistration(name: string, at: number): void {
    this.#tell(name, { kind: 'registration', at })
  }

  /** A member says what the status is. */
  state(name: string, status: 0 | 1, at: number): void {
    this.#tell(name, { kind: 'statement', status, at, deletedAt: this.#lastDeletion(name) })
    if (status === 0) this.#deletedAt.set(name, at)
  }

  /** Undefined if nothing is known of the name. */
  status(name: string): 0 | 1 | undefined {
    const told = this.#told.get(name) ?? []
    if (told.length === 0) return undefined
    const spoken = told.findLastIndex(({ kind }) => kind === 'statement')
    const statement = told[spoken]
    /** Deletions that count: a statement that it is bought stands until the name is deleted again. */
    const counted = told.flatMap((each, i) => {
      if (each.kind !== 'deletion') return []
      const isSettled =
        statement?.kind === 'statement' &&
        statement.status === 1 &&
        (i < spoken || each.earliest < statement.deletedAt)
      return isSettled ? [] : [each.earliest]
    })
    const isStatedFree = statement?.kind === 'statement' && statement.status === 0
    const freeSince = Math.max(...counted, isStatedFree ? statement.at : -Infinity)
    const registrations = told.flatMap(({ kind, at }) => (kind === 'registration' ? [at] : []))
    // Where nothing decides between the two, it is bought.
    return freeSince > -Infinity && Math.max(-Infinity, ...registrations) < freeSince ? 0 : 1
  }

  #lastDeletion(name: string): number {
    return this.#deletedAt.get(name) ?? -Infinity
  }

  #tell(name: string, told: Told): void {
    this.#told.set(name, [...(this.#told.get(name) ?? []), told])
  }
}
