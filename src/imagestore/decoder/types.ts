import type { SettledPlan } from '../links/modifiers/plan.ts'
import type { Mark } from './messages.ts'
import type { Requesters } from './requesters.ts'
import type { Turn } from './turn.ts'

export const imageKinds = ['jpeg', 'png', 'gif', 'webp', 'avif', 'tiff', 'svg'] as const
export type ImageKind = (typeof imageKinds)[number]

/** `reason` is for the log, never for a client. */
export interface Damaged {
  readonly kind: 'damaged'
  readonly reason: string
  /** The file does not hold the bytes that were stored. */
  readonly isAltered?: boolean
}

/** What an image is, once every pixel of every frame has been decoded. */
export interface InspectedImage {
  readonly kind: 'image'
  readonly format: ImageKind
  readonly mime: string
  /** Pixels as a person sees the image: EXIF orientation applied, one frame. */
  readonly width: number
  readonly height: number
  readonly frames: number
  /** 16 lower-case hex digits. */
  readonly dhash: string
  /** Base64 of the ThumbHash. */
  readonly thumbhash: string
}

export interface DerivedImage {
  readonly kind: 'image'
  readonly bytes: Uint8Array
  readonly mime: string
  readonly width: number
  readonly height: number
}

/** It would take more memory or time than is given to anybody, so it was not begun. `reason` is for the log. */
export interface TooHeavy {
  readonly kind: 'too-heavy'
  readonly reason: string
}

/** `busy`: the queue is full or the wait too long, try later. `aborted`: the signal fired first. */
type Undone = { readonly kind: 'busy' } | { readonly kind: 'aborted' }
/** What is too heavy or too slow counts as damaged. */
export type Inspection = InspectedImage | Damaged | Undone
/** `too-slow`: begun, and ended when its time was up. */
export type Derivation = DerivedImage | Damaged | TooHeavy | { readonly kind: 'too-slow' } | Undone

export interface EngineStats {
  /** Jobs in a child now. */
  readonly running: number
  /** Jobs waiting for a child. */
  readonly waiting: number
  /** Children that ended on their own or were killed, since the start. */
  readonly restarts: number
  /** Process ids of the children. */
  readonly pids: readonly number[]
  /** Bytes of decode memory promised to running jobs. */
  readonly memory: number
}

export interface DeriveOptions {
  /** An image to lay over it. */
  readonly mark?: Mark | undefined
  /** In whose turn it runs; the service itself by default. */
  readonly requesters?: Requesters | undefined
  /** What the file's bytes have to be: others are reported as altered. */
  readonly hash?: string | undefined
}

export interface ImageEngine {
  /**
   * Decodes the file at `path` whole. Never rejects for what the file holds.
   * @param requesters in whose turn it runs; the service itself by default
   */
  inspect(path: string, signal?: AbortSignal, requesters?: Requesters): Promise<Inspection>
  /** Makes the derivative that `plan` describes from the file at `path`. */
  derive(path: string, plan: SettledPlan, signal?: AbortSignal, options?: DeriveOptions): Promise<Derivation>
  stats(): EngineStats
  /** Ends every child within about a second; jobs under way come out as `aborted`. */
  close(): Promise<void>
}

export interface EngineOptions {
  /** Child processes for usual images; half as many, and at least one, come for heavy ones. Default: the number of cores. */
  readonly workers?: number
  /** Pixels of all frames together. Default: 64 million. */
  readonly maxPixels?: number
  /** Milliseconds of processor time that a job may take, by the clock four times as many, waiting not counted. Default: 20,000. */
  readonly timeoutMs?: number
  /** Bytes of decode memory all running jobs may take together, and a quarter more (see budget.ts). Default: 1.2 GiB. */
  readonly memoryBudget?: number
  /** Bytes that one job may take; dearer images are refused. Default: all of `memoryBudget`. */
  readonly largestJob?: number
  /** What a job waits for that takes more than all of `memoryBudget`: engines of other processes know it too. */
  readonly turn?: Turn
  /** Jobs that may wait for a child. Default: 64. */
  readonly queue?: number
  /** Of these, jobs of one client. Default: all. */
  readonly queuePerClient?: number
  /** Milliseconds that a job may wait, for a child and for memory each. Default: 30,000. */
  readonly waitMs?: number
  /** Milliseconds without any job after which the children end. Default: 300,000. */
  readonly restMs?: number
}
