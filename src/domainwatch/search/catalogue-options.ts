import type { Tasks } from '../../lib/tasks.ts'
import type { Database } from '../../storage/database/database.ts'
import type { Columns } from './columns.ts'
import type { Order } from './order.ts'
import type { KeptFile } from './snapshot.ts'

export interface CatalogueOptions {
  readonly database: Database
  readonly tasks: Tasks
  /** Bytes it may take; 0 for no catalogue at all. A merge takes as much again for a while. */
  readonly memory: number
  /** Where they are kept for the next start. */
  readonly file?: KeptFile
  /** Told of columns that lists will be answered from and that are likely to stay: waited for before they are. Never rejects. */
  readonly prepare: (columns: Columns, order: Order) => Promise<unknown>
  /** Told of trouble that only makes lists slower. */
  readonly report: (message: string, error?: unknown) => void
}

/** What there is to say of it to operators. */
export interface CatalogueStats {
  readonly names: number
  readonly bytes: number
  readonly segments: number
  /** 1 when lists are answered from it. */
  readonly ready: number
  /** Seconds that the last reading of all records took. */
  readonly loadSeconds: number
  /** 1 when that was from the file. */
  readonly restored: number
}
