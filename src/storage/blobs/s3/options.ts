import { FairSlots } from '../../../lib/fair-slots.ts'
import type { Patience } from './attempts.ts'

/** The bounds of an S3 store. */
export interface S3Options {
  /** Requests under way whose answers are taken at once; more wait in line. */
  readonly requests: number
  /** Of these, for one client. */
  readonly requestsPerClient: number
  /** Bodies being passed on to clients, at their pace. */
  readonly streams: number
  readonly streamsPerClient: number
  /** Local copies lent at a time: what they may take of the disk is this times the largest image. */
  readonly copies: number
  readonly copiesPerClient: number
  /** Those who may wait in each of the three lines. */
  readonly line: number
  /** Of these, for one client. */
  readonly linePerClient: number
  /** Longest wait in line. Milliseconds. */
  readonly lineMs: number
  /** The same for a copy: others are held while their images wait to be decoded. */
  readonly copyLineMs: number
  /** For an operation on a small blob. */
  readonly patience: Patience
  /** Bytes a second that a large one may be expected to move at the least. */
  readonly leastRate: number
  /** How long a client may take nothing of a stream. Milliseconds. */
  readonly stallMs: number
  readonly pingMs: number
  /** Keys asked for at a time when all are listed. */
  readonly page: number
}

export const S3_DEFAULTS: S3Options = {
  requests: 64,
  requestsPerClient: 32,
  streams: 256,
  streamsPerClient: 32,
  copies: 32,
  copiesPerClient: 8,
  line: 256,
  linePerClient: 128,
  lineMs: 5_000,
  copyLineMs: 20_000,
  patience: { attempts: 3, silenceMs: 4_000, totalMs: 12_000 },
  leastRate: 1024 * 1024,
  stallMs: 60_000,
  pingMs: 1_500,
  page: 1_000,
}

/** Slots that clients share, with the waits that the options allow. */
export const fairSlots = (
  slots: number,
  slotsPerClient: number,
  { line, linePerClient, lineMs }: Pick<S3Options, 'line' | 'linePerClient' | 'lineMs'>,
): FairSlots =>
  new FairSlots({
    slots,
    slotsPerClient,
    maxWaiting: line,
    maxWaitingPerClient: linePerClient,
    timeoutMs: lineMs,
  })

/** Whom requests are for that no client waits for. */
export const SERVICE = 'service'
