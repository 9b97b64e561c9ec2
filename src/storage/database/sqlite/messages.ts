import type { SqlValue } from '../sql.ts'
import type { StorageFaultKind } from '../faults.ts'
import type { BatchPlan } from './batch.ts'
import type { ConnectionMode } from './connection.ts'

/** What a thread is started with. */
export interface Start {
  readonly path: string
  readonly mode: ConnectionMode
  /** Up to which version of the schema a writer migrates; undefined for the newest. */
  readonly schema: number | undefined
  /** A writer neither creates nor migrates. */
  readonly existing: boolean
}

export type Work =
  | { readonly kind: 'all' | 'values' | 'run'; readonly text: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'runMany'
      readonly plan: BatchPlan
      readonly values: readonly SqlValue[]
      /** A JSON array of arrays. */
      readonly rows: Uint8Array
    }
  | { readonly kind: 'begin' | 'commit' | 'rollback' }
  | { readonly kind: 'close' }

export type Task = Work & { readonly id: number }

/** The answer to the task of the same id; that to id 0 says that the thread is ready: at which schema it found the database. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  /** `busy`: another process did not give way in time. `storage`: set if the storage is at fault. */
  | {
      readonly id: number
      readonly fault: string
      readonly busy: boolean
      readonly storage: StorageFaultKind | undefined
    }
