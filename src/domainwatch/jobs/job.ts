import type { ImportFormat } from '../import/format.ts'
import type { Reached } from '../import/writer.ts'
import type { ListResult } from '../registry/apply-list.ts'
import type { Skipped, Window } from '../registry/rules.ts'
import type { SavedFilters } from '../filters.ts'
import type { BulkSet } from './bulk-request.ts'

/** Jobs of an account that have not ended. One of them runs; the others wait or are being received. */
export const MAX_OPEN_JOBS = 4
/** Largest file of a job, as it is sent and after decompression. */
export const MAX_FILE_BYTES = 256 * 1024 * 1024

const DAY_MS = 24 * 60 * 60_000
/** How long ended jobs are listed. */
export const LISTED_DAYS = 30
export const LISTED_MS = LISTED_DAYS * DAY_MS

/** How long a bulk change can be undone after it ended. */
export const UNDO_MS = DAY_MS

export const JOB_KINDS = ['import', 'bulk', 'undo'] as const
export type JobKind = (typeof JOB_KINDS)[number]
export const BULK_KINDS = ['bulk', 'undo'] as const

/** `receiving` its file, `waiting` for another job of the account, `running`, or how it ended. */
export const JOB_STATES = ['receiving', 'waiting', 'running', 'done', 'failed', 'stopped'] as const
export type JobState = (typeof JOB_STATES)[number]

export interface JobRow {
  readonly id: string
  readonly account_id: number
  readonly kind: JobKind
  readonly state: JobState
  /** Times in milliseconds since 1970. */
  readonly created_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  /** JSON of what was asked for, and of what is done. */
  readonly request: string
  readonly progress: string
  /** Key of its file in the store of files. */
  readonly file: string | null
  /** Why it failed, in Spanish. */
  readonly error: string | null
}

export interface ImportRequest {
  /** Name of the file. */
  readonly name?: string | undefined
  readonly format?: ImportFormat | undefined
  readonly source?: string | undefined
  readonly window: Window
  readonly isDry: boolean
}

/** What of a job is done, from 0 to 1, and how long the rest will take at this pace. */
interface Pace {
  readonly share?: number
  readonly secondsLeft?: number
}

/** The ids of a job's changes in the log are after the first, up to the last; undefined before there are any. */
interface ChangeRange {
  readonly first?: number
  readonly last?: number
}

export interface ImportProgress extends Pace, ChangeRange {
  /** What is stored. */
  readonly reached?: Reached
  /** Why the list changed nothing, and what its source learnt from it. */
  readonly skipped?: Skipped | undefined
  readonly list?: ListResult
}

export interface BulkRequest {
  /** The texts of the parameters. */
  readonly filters: SavedFilters
  readonly set: BulkSet
}

export interface BulkProgress extends Pace, ChangeRange {
  readonly matched: number
  readonly done: number
  readonly skipped: number
}

export interface UndoRequest extends Required<ChangeRange> {
  readonly of: string
}

/** Another process runs the job now, or it was stopped: nothing more may be stored. */
export class JobEnded extends Error {}
