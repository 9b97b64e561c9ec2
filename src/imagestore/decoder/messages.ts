import type { MarkPlace } from '../image-settings.ts'
import type { SettledPlan } from '../links/modifiers/plan.ts'
import type { Damaged, DerivedImage, InspectedImage, TooHeavy } from './types.ts'

/** An image to lay over another one. */
export interface Mark {
  readonly path: string
  readonly place: MarkPlace
  /** What its bytes have to be; undefined where nobody knows. */
  readonly hash?: string | undefined
}

export type Task =
  | { readonly operation: 'inspect' }
  | {
      readonly operation: 'derive'
      readonly plan: SettledPlan
      readonly mark: Mark | undefined
      /** What the file's bytes have to be; undefined where nobody knows. */
      readonly hash: string | undefined
    }

/** To a child. One job at a time; `verdict` answers the child's `cost`. */
export type ToChild =
  | {
      readonly type: 'job'
      readonly path: string
      readonly task: Task
      readonly maxPixels: number
      /** How long it may run, in milliseconds. */
      readonly timeoutMs: number
      /** Bytes of decode memory it may take without asking. */
      readonly granted: number
    }
  | { readonly type: 'verdict'; readonly admitted: boolean }

export type JobOutcome = InspectedImage | DerivedImage | Damaged | TooHeavy

/** From a child. */
export type FromChild =
  | { readonly type: 'ready' }
  /**
   * The job needs more memory than it was granted, in bytes, or it is `heavy`: it may take so much, or for so long, that
   * others must not wait behind it.
   */
  | { readonly type: 'cost'; readonly bytes: number; readonly heavy: boolean }
  /** `swollen`: the process keeps so much memory that another one had better take its place. */
  | { readonly type: 'done'; readonly outcome: JobOutcome; readonly swollen: boolean }
