import type { SqlValue } from '../sql.ts'
import type { StorageFaultKind } from '../faults.ts'
import type { Migration } from '../migrations/index.ts'
import type { BatchTexts } from './batch.ts'
import type { ConnectionMode } from './connection.ts'

/** What a thread is started with. */
export interface Start {
  readonly path: string
  readonly mode: ConnectionMode
  /** How a writer migrates the schema; undefined if it must be current. */
  readonly migration: MigrationOptions | undefined
}

export interface MigrationOptions {
  /** No step goes past this version. */
  readonly schema: number
  readonly migrations: readonly Migration[]
}

export type Work =
  | { readonly kind: 'all' | 'values' | 'run'; readonly text: string; readonly values: readonly SqlValue[] }
  | {
      readonly kind: 'runMany'
      readonly batch: BatchTexts
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
