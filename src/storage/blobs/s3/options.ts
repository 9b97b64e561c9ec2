import { FairSlots, groupBefore } from '../../../lib/fair-slots.ts'

/** Limits of an S3 store. Times in milliseconds. */
export interface S3Options {
  /** Concurrent requests whose answers are consumed immediately. */
  readonly requests: number
  readonly requestsPerClient: number
  /** Open bodies that are passed on to clients, at the clients' pace. */
  readonly streams: number
  readonly streamsPerClient: number
  /** Concurrent local copies. They take at most this many times the largest image on disk. */
  readonly copies: number
  readonly copiesPerClient: number
  /** Length of each of the three queues. */
  readonly maxWaiting: number
  readonly maxWaitingPerClient: number
  /** Longest wait in a queue. */
  readonly waitMs: number
  /** The same for a copy, which is held while its image waits to be decoded. */
  readonly copyWaitMs: number
  /** Attempts of one request, retries included. */
  readonly maxAttempts: number
  /** An attempt fails after this long without a byte in either direction. */
  readonly silenceMs: number
  /** Longest time of an operation on a small object, retries included. */
  readonly totalMs: number
  /** A large object gets additional time at this rate. */
  readonly minBytesPerSecond: number
  /** How long the reader of a stream may read nothing. */
  readonly stallMs: number
  readonly pingMs: number
  /** Keys per page of a listing. */
  readonly pageSize: number
}

export const S3_DEFAULTS: S3Options = {
  requests: 64,
  requestsPerClient: 32,
  streams: 256,
  streamsPerClient: 32,
  copies: 32,
  copiesPerClient: 8,
  maxWaiting: 256,
  maxWaitingPerClient: 128,
  waitMs: 5_000,
  copyWaitMs: 20_000,
  maxAttempts: 3,
  silenceMs: 4_000,
  totalMs: 12_000,
  minBytesPerSecond: 1024 * 1024,
  stallMs: 60_000,
  pingMs: 1_500,
  pageSize: 1_000,
}

/** The client of requests that the service makes for itself. */
export const SERVICE = 'service'

/** A pool that clients share fairly, with the queue that the options allow. */
export const fairSlots = (
  slots: number,
  slotsPerClient: number,
  {
    maxWaiting,
    maxWaitingPerClient,
    waitMs,
  }: Pick<S3Options, 'maxWaiting' | 'maxWaitingPerClient' | 'waitMs'>,
): FairSlots =>
  new FairSlots({
    slots,
    slotsPerClient,
    maxWaiting,
    maxWaitingPerClient,
    timeoutMs: waitMs,
    groupOf: groupBefore,
  })
