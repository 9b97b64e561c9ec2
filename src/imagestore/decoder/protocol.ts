/** The messages between the pool and its processes. */
import type { ResolvedTransformation } from '../../lib/modifiers/index.ts'
import type { Damaged, DerivedImage, InspectedImage, TooHeavy, WatermarkFile } from './types.ts'

export type Task =
  | { readonly operation: 'inspect' }
  | {
      readonly operation: 'derive'
      readonly plan: ResolvedTransformation
      readonly watermark: WatermarkFile | undefined
      /** Of the bytes that were stored; undefined if unknown. */
      readonly hash: string | undefined
    }

export interface JobMessage {
  readonly type: 'job'
  readonly path: string
  readonly task: Task
  readonly maxPixels: number
  /** Limit on processor time, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes of memory that it may take without asking. */
  readonly granted: number
}

/** To a process, which runs one job at a time. `admission` answers its `cost`. */
export type ToDecoder = JobMessage | { readonly type: 'admission'; readonly isAdmitted: boolean }

export type JobOutcome = InspectedImage | DerivedImage | Damaged | TooHeavy

export type FromDecoder =
  | { readonly type: 'ready' }
  /** The job needs more memory than was granted, or is heavy: others must not wait behind it. */
  | { readonly type: 'cost'; readonly bytes: number; readonly isHeavy: boolean }
  /** `isBloated`: the process retains so much memory that it should be replaced. */
  | { readonly type: 'done'; readonly outcome: JobOutcome; readonly isBloated: boolean }
