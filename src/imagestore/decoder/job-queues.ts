import { FairQueue } from './fair-queue.ts'
import type { DecodeJob } from './job.ts'
import type { Requesters } from './requesters.ts'

export interface QueueLimits {
  /** Jobs that may wait in both queues together. */
  readonly queue: number
  /** Of these, jobs of one client. */
  readonly queuePerClient: number
  /** Longest wait in a queue, in milliseconds. */
  readonly waitMs: number
}

/** The jobs that wait for a process: the usual ones and the heavy ones, with one limit for both. */
export class JobQueues {
  readonly usual = new FairQueue<DecodeJob>()
  readonly heavy = new FairQueue<DecodeJob>()
  readonly #limits: QueueLimits

  constructor(limits: QueueLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.usual.length + this.heavy.length
  }

  *[Symbol.iterator](): Generator<DecodeJob> {
    yield* this.usual
    yield* this.heavy
  }

  of(isHeavy: boolean): FairQueue<DecodeJob> {
    return isHeavy ? this.heavy : this.usual
  }

  /** @param first whether it goes before the other jobs of its clients */
  add(job: DecodeJob, isHeavy: boolean, first = false): void {
    const queue = this.of(isHeavy)
    if (first) queue.pushFirst(job)
    else queue.push(job)
    job.startWait(this.#limits.waitMs)
  }

  /** @returns whether it was waiting */
  remove(job: DecodeJob): boolean {
    return this.usual.remove(job) || this.heavy.remove(job)
  }

  /**
   * Whether one more job of these clients may wait. When the queues are full, a client with few jobs takes a place of the
   * client with the most, whose newest job is refused.
   */
  makeRoomFor(requesters: Requesters): boolean {
    const waiting = new Map<string, number>()
    for (const job of this)
      for (const client of job.requesters.clients) waiting.set(client, (waiting.get(client) ?? 0) + 1)
    let own = this.#limits.queuePerClient
    for (const client of requesters.clients) own = Math.min(own, waiting.get(client) ?? 0)
    if (own >= this.#limits.queuePerClient) return false
    if (this.length < this.#limits.queue) return true
    let longest: { readonly client: string; readonly jobs: number } | undefined
    for (const [client, jobs] of waiting)
      if (longest === undefined || jobs > longest.jobs) longest = { client, jobs }
    return longest !== undefined && longest.jobs > own + 1 && this.#refuseOneOf(longest.client)
  }

  /** Refuses the newest waiting job that only this client wants. */
  #refuseOneOf(client: string): boolean {
    for (const queue of [this.usual, this.heavy]) {
      const own = [...queue].filter(({ requesters }) => requesters.size === 1 && requesters.has(client))
      const newest = own.at(-1)
      if (newest === undefined) continue
      queue.remove(newest)
      newest.settle({ kind: 'busy' })
      return true
    }
    return false
  }
}
