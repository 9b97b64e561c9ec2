/** The messages between the pool and its processes. */
import type { ResolvedTransformation } from '../../lib/modifiers/index.ts'
import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import type { Requesters } from '../../lib/requesters.ts'
import type { BlobRow } from '../image-fields.ts'
import type { WatermarkPlacement } from '../image-settings.ts'
import type { AcquireMachineLock } from './machine-lock.ts'

/** `reason` is for the log, never for a client. */
interface Damaged {
  readonly kind: 'damaged'
  readonly reason: string
  /** The file does not hold the bytes that were stored. */
  readonly isAltered?: boolean
}

/** An image of which every pixel of every frame has been decoded. */
export interface InspectedImage extends Omit<BlobRow, 'hash' | 'key' | 'size'> {
  readonly kind: 'image'
  readonly format: ImageFormat
  /** Base64 of the ThumbHash. */
  readonly thumbhash: string
}

/** An image as it is sent. */
export interface Rendered {
  readonly bytes: Uint8Array
  readonly mime: string
}

export interface DerivedImage extends Rendered {
  readonly kind: 'image'
}

/** It exceeds the limits on memory or time, as expected from its header or found out. `reason` is for the log. */
interface TooHeavy {
  readonly kind: 'too-heavy'
  readonly reason: string
  /** Memory ran out. Earlier images of the process may be to blame: a fresh one tells. */
  readonly isOutOfMemory?: boolean
}

/** `busy`: the queue is full or the wait timed out, try later. `aborted`: the signal fired first. */
type NotRun = { readonly kind: 'busy' } | { readonly kind: 'aborted' }
/** `too-slow`: killed when its time was up. `crashed`: two processes in a row ended because of it. */
type Killed = { readonly kind: 'too-slow' } | { readonly kind: 'crashed' }

/** Images that are too heavy or too slow, or crash their process, count as damaged. */
export type Inspection = InspectedImage | Damaged | NotRun
export type Derivation = DerivedImage | Damaged | TooHeavy | Killed | NotRun

export interface EngineStats {
  /** Jobs that run in a process. */
  readonly running: number
  /** Jobs that wait for a process. */
  readonly waiting: number
  /** Processes that crashed or were killed because of their job. */
  readonly restarts: number
  /** Process ids. */
  readonly pids: readonly number[]
  /** Bytes of memory granted to running jobs. */
  readonly memory: number
}

/** An image to put on another one. */
export interface WatermarkFile {
  readonly path: string
  readonly place: WatermarkPlacement
  /** Of the bytes that were stored; undefined if unknown. */
  readonly hash?: string | undefined
}

interface DeriveOptions {
  readonly watermark?: WatermarkFile | undefined
  /** The clients that wait for it; the service itself by default. */
  readonly requesters?: Requesters | undefined
  /** Of the bytes that were stored: a file with other bytes is reported as altered. */
  readonly hash?: string | undefined
}

export interface ImageEngine {
  /**
   * Decodes the whole file at `path`. Never rejects because of the file's content.
   * @param requesters the clients that wait for it; the service itself by default
   */
  inspect(path: string, signal?: AbortSignal, requesters?: Requesters): Promise<Inspection>
  /** Renders the derivative that `plan` describes from the file at `path`. */
  derive(
    path: string,
    plan: ResolvedTransformation,
    signal?: AbortSignal,
    options?: DeriveOptions,
  ): Promise<Derivation>
  stats(): EngineStats
  /** Ends all processes within about a second. Running jobs resolve to `aborted`. */
  close(): Promise<void>
}

export interface EngineOptions {
  /** Processes for light jobs; half as many, and at least one, are added for heavy ones. Default: the number of cores. */
  readonly workers: number
  /** Limit on the pixels of all frames. Default: 64 million. */
  readonly maxPixels: number
  /** Limit on the processor time of a job, and four times as much on its duration without waits. In milliseconds. Default: 20,000. */
  readonly timeoutMs: number
  /** Bytes of memory for all running jobs, and a quarter more (see memory-budget.ts). Default: 1.2 GiB. */
  readonly memoryBudget: number
  /** Bytes of memory for one job; more expensive images are rejected. Default: all of `memoryBudget`. */
  readonly largestJob: number
  /** What a job that exceeds `memoryBudget` waits for: a turn shared with the engines of other processes. Default: none. */
  readonly acquireTurn: AcquireMachineLock
  /** Jobs that may wait for a process. Default: 64. */
  readonly queue: number
  /** Of these, jobs of one client. Default: all. */
  readonly queuePerClient: number
  /** Limit on all waits of a job together, for a process and for memory. In milliseconds. Default: 30,000. */
  readonly waitMs: number
  /** Idle time after which all processes end. In milliseconds. Default: 300,000. */
  readonly idleMs: number
}

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
export type PoolOutcome = JobOutcome | Killed | NotRun

export type FromDecoder =
  | { readonly type: 'ready' }
  /** The job needs more memory than was granted, or is heavy: others must not wait behind it. A complex one asks twice. */
  | { readonly type: 'cost'; readonly bytes: number; readonly isHeavy: boolean }
  /** `isBloated`: the process retains so much memory that it should be replaced. */
  | { readonly type: 'done'; readonly outcome: JobOutcome; readonly isBloated: boolean }
