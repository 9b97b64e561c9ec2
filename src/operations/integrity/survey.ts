import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import { OverloadError } from '../../lib/errors.ts'
import type { Progress } from '../../lib/progress.ts'
import type { Database } from '../../storage/database/database.ts'
import { Findings } from './findings.ts'
import * as queries from './queries.ts'

/** One verification under way: where it looks, and what it has seen so far. */
export class Survey {
  readonly database: Database
  readonly blobs: BlobStore
  readonly progress: Progress
  readonly findings: Findings
  readonly checked = {
    domains: 0,
    images: 0,
    blobs: 0,
    bytes: 0,
    /** In the store: of images that were deleted, and without a record but young. */
    trashed: 0,
    young: 0,
  }
  #isSound = true

  /** @param examples how many of each kind of fault are listed */
  constructor(database: Database, blobs: BlobStore, progress: Progress, examples: number) {
    this.database = database
    this.blobs = blobs
    this.progress = progress
    this.findings = new Findings(examples)
  }

  /** Whether what the database says may be relied on. */
  get isSound(): boolean {
    return this.#isSound
  }

  /** A fault of a single row; undefined is none. */
  note(fault: string | undefined): void {
    if (fault !== undefined) this.findings.add('database', fault)
  }

  /** A fault of the database itself. */
  distrust(fault: string): void {
    this.#isSound = false
    this.note(fault)
  }

  /** Goes through a table; one that cannot be read to its end is a fault of the database. */
  async through(table: string, read: () => Promise<void>): Promise<void> {
    try {
      await read()
    } catch (error) {
      if (!(error instanceof Error) || error instanceof OverloadError) throw error
      this.distrust(`${table} cannot be read: ${error.message}`)
    }
  }

  async begin(name: string, table: Parameters<typeof queries.countOf>[0]): Promise<void> {
    // Counting may take longer than a statement is allowed to.
    const count = await this.database.scanner.first(queries.countOf(table)).catch(() => undefined)
    this.progress.begin(name, count?.count)
  }
}
