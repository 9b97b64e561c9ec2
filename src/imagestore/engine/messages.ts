import type { Plan } from '../modifiers/plan.ts'
import type { Damaged, DerivedImage, InspectedImage } from './types.ts'

export type Task = { readonly operation: 'inspect' } | { readonly operation: 'derive'; readonly plan: Plan }

/** To a child. One job at a time; `verdict` answers the child's `cost`. */
export type ToChild =
  | {
      readonly type: 'job'
      readonly path: string
      readonly task: Task
      readonly maxPixels: number
      /** Bytes of decode memory it may take without asking. */
      readonly granted: number
    }
  | { readonly type: 'verdict'; readonly admitted: boolean }

export type JobOutcome = InspectedImage | DerivedImage | Damaged

/** From a child. */
export type FromChild =
  | { readonly type: 'ready' }
  /** The job needs more memory than it was granted, in bytes. */
  | { readonly type: 'cost'; readonly bytes: number }
  | { readonly type: 'done'; readonly outcome: JobOutcome }
