/** Outcomes of the engine, and the messages between it and its processes. */
import type { ImageFormat } from '../../lib/image-metadata/index.ts'
import type { ResolvedTransformation } from '../modifiers/index.ts'
import type { BlobRow } from '../image-fields.ts'
import type { WatermarkPlacement } from '../image-settings.ts'

/**
 * What is wrong with an upload, as answers name it: no accepted type, damaged, or too much to decode within the limits.
 */
export type ImageFault = 'format' | 'damaged' | 'too_many_pixels'

/** `reason` is for the log, never for a client. */
interface Damaged {
  readonly kind: 'damaged'
  readonly fault: ImageFault
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

/** An image to put on another one. */
export interface WatermarkFile {
  readonly path: string
  readonly place: WatermarkPlacement
  /** Bytes that were stored; undefined if unknown. */
  readonly size?: number | undefined
}

export type Task =
  | { readonly operation: 'inspect' }
  | {
      readonly operation: 'derive'
      readonly plan: ResolvedTransformation
      readonly watermark: WatermarkFile | undefined
      readonly size: number | undefined
    }

/** One job of a process, which runs one at a time. */
export interface Job {
  readonly path: string
  readonly task: Task
  readonly maxPixels: number
  readonly timeoutMs: number
  readonly largestJob: number
  /** Bytes of memory that it may take. */
  readonly granted: number
}

/** The job was not started, because it needs more memory than it was granted. */
export interface Needs {
  readonly kind: 'needs'
  readonly bytes: number
}

export type JobOutcome = InspectedImage | DerivedImage | Damaged | TooHeavy
export type PoolOutcome = JobOutcome | Killed | NotRun

export type FromDecoder =
  | { readonly type: 'ready' }
  /** `isBloated`: the process retains so much memory that it should be replaced. */
  | { readonly type: 'done'; readonly outcome: JobOutcome | Needs; readonly isBloated: boolean }

/** The file is not an image that is accepted. The message is for the log. */
export class RejectedImage extends Error {
  readonly fault: ImageFault

  constructor(message: string, fault: ImageFault) {
    super(message)
    this.fault = fault
  }
}

/** The file does not hold as many bytes as were stored. */
export class AlteredImage extends Error {}
