import type { Progress } from '../../lib/progress.ts'
import type { Clock } from '../../lib/clock.ts'
import { isOverload } from '../../lib/errors.ts'
import { withRetries } from '../../lib/concurrency.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { Database } from '../../storage/database/database.ts'
import { countRows } from '../../storage/database/rows.ts'
import type { Query } from '../../storage/database/sql.ts'

/** Rows per page. */
export const PAGE_ROWS = 1_000
/** A short outage of the database must not end a check that runs for hours. */
const RETRIES = { attempts: 6, firstPauseMs: 500, isRetryable: isOverload }

/** The kinds of faults that an instance can have. */
export const KINDS = {
  missing: 'recorded images whose bytes are not in the store',
  corrupt: 'recorded images whose bytes are not those that were uploaded',
  unreadable: 'recorded images whose bytes could not be read, so that they are unverified',
  lost: 'images marked as lost earlier: uploading the same bytes again restores them',
  found: 'images marked as lost whose bytes are in the store again',
  orphaned: 'bytes in the store without a record',
  store: 'faults of the store as a whole',
  database: 'faults of the database',
} as const

type Kind = keyof typeof KINDS

export const isKind = (text: string): text is Kind => text in KINDS

interface Finding {
  readonly count: number
  /** The first ones: a blob's key, or a description. */
  readonly first: readonly string[]
}

/** Counts the findings of each kind and keeps the first ones. */
class Findings {
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

export interface VerifyOptions {
  readonly database: Database
  readonly blobs: BlobStore
  readonly clock: Clock
  /** Repairs findings as far as possible without losing anything. */
  readonly repair: boolean
  /** Takes over the store for this database first, from any owner. */
  readonly claim: boolean
  /** Files without a record that are younger than this may belong to an upload in progress. */
  readonly minAgeMs: number
  /** How many findings of each kind are listed. */
  readonly examples: number
  readonly progress: Progress
}

/** A running verification: what it reads, and what it has found so far. */
export class Verification {
  readonly options: VerifyOptions
  readonly findings: Findings
  readonly checked = {
    domains: 0,
    images: 0,
    blobs: 0,
    bytes: 0,
    /** Files in the store of deleted images. */
    trashed: 0,
    /** Files in the store without a record that are too young to be orphans. */
    young: 0,
  }
  /** Counts of repairs. */
  readonly repaired = { markedLost: 0, quarantined: 0, recovered: 0, removed: 0 }
  #isSound = true

  constructor(options: VerifyOptions) {
    this.options = options
    this.findings = new Findings(options.examples)
  }

  /** Whether the database can be relied on. */
  get isSound(): boolean {
    return this.#isSound
  }

  /** Reports a fault of a single row, if there is one. */
  report(fault: string | undefined): void {
    if (fault !== undefined) this.findings.add('database', fault)
  }

  /** Reports that the database itself is damaged. */
  reportDamage(fault: string): void {
    this.#isSound = false
    this.report(fault)
  }

  /** Runs the check of a table. If the table cannot be read to its end, the database is damaged. */
  async checkTable(table: string, check: () => Promise<void>): Promise<void> {
    try {
      await check()
    } catch (error) {
      if (!(error instanceof Error) || isOverload(error)) throw error
      this.reportDamage(`${table} cannot be read: ${error.message}`)
    }
  }

  async begin(name: string, table: string): Promise<void> {
    // Counting may exceed the time limit of a statement.
    const count = await countRows(this.options.database.scanner, table).catch(() => undefined)
    this.options.progress.begin(name, count)
  }
}

/** Yields all rows of a table in key order. @param pageAfter the page after a row, or the first one */
export async function* toRows<Row>(
  database: Database,
  pageAfter: (last?: Row) => Query<Row>,
): AsyncGenerator<Row> {
  for (let last: Row | undefined; ;) {
    const query = pageAfter(last)
    const page = await retryOverload(() => database.scanner.all(query))
    yield* page
    last = page.at(-1)
    if (page.length < PAGE_ROWS) return
  }
}

/** Retries idempotent work while the database is overloaded or unreachable. */
export const retryOverload = <T>(work: () => Promise<T>): Promise<T> => withRetries(work, RETRIES)
