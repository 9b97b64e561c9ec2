import { addAbortListener } from 'node:events'
import { OverloadError } from './errors.ts'
import {
  compareLengths,
  FairSlots,
  findLongest,
  groupBefore,
  type QueueLength,
  type ReleaseSlot,
} from './fair-slots.ts'
import type { Requesters } from './requesters.ts'

/** A job that waits. */
interface QueuedJob {
  readonly requesters: Requesters
  readonly displaced: AbortController
}

/** A slot, and the client in whose turn it was taken. */
export interface TakenSlot {
  readonly client: string
  readonly release: ReleaseSlot
}

/** Slots that jobs take through a `JobQueue`, which limits how many wait and for how long. */
export const queuedSlots = (slots: number, slotsPerClient: number): FairSlots =>
  new FairSlots({
    slots,
    slotsPerClient,
    maxWaiting: Infinity,
    maxWaitingPerClient: Infinity,
    groupOf: groupBefore,
  })

/**
 * Takes the first slot that any of the clients of a job gets.
 * @param requesters they may join and leave during the wait
 * @param end aborts when the job must not wait any longer
 * @throws OverloadError if none of them may wait, or `end` aborts
 */
export async function takeFirst(
  slots: FairSlots,
  requesters: Requesters,
  end: AbortSignal,
): Promise<TakenSlot> {
  const { promise, resolve, reject } = Promise.withResolvers<TakenSlot>()
  /** Aborts when one of them has got a slot, or none will. */
  const ended = new AbortController()
  const fail = () => {
    ended.abort()
    reject(new OverloadError())
  }
  using _listener = addAbortListener(end, fail)
  let waiting = 0
  requesters.follow((client, left) => {
    waiting++
    slots.take(client, AbortSignal.any([ended.signal, left])).then(
      (release) => {
        if (ended.signal.aborted) return release()
        ended.abort()
        resolve({ client, release })
      },
      () => {
        waiting--
        // Those that have not left were refused.
        if (waiting === 0 && requesters.clients.length > 0) fail()
      },
    )
  })
  return await promise
}

/** The queue of a job that nobody wants any more. */
const UNWANTED: QueueLength = { group: '', ofGroup: Infinity, ofClient: Infinity }

/**
 * Limits the jobs that wait, in total and of each client. A job of several clients counts for each of them. When the queue is
 * full, a client with few jobs displaces the newest one of the client with the most. A job that several clients request is
 * displaced as one of the client that has the fewest.
 */
export class JobQueue {
  readonly #jobs = new Set<QueuedJob>()
  readonly #max: number
  readonly #maxPerClient: number

  constructor(max: number, maxPerClient: number) {
    this.#max = max
    this.#maxPerClient = maxPerClient
  }

  get length(): number {
    return this.#jobs.size
  }

  /**
   * Takes the first slot that any of the clients of a job gets.
   * @param slots from `queuedSlots`
   * @param requesters they may join and leave while the job waits
   * @param end aborts when the job must not wait any longer
   * @throws OverloadError if the queue is full, the job was displaced, or `end` aborts
   */
  async take(slots: FairSlots, requesters: Requesters, end: AbortSignal): Promise<TakenSlot> {
    const job = { requesters, displaced: new AbortController() }
    const { running } = slots
    const taken = takeFirst(slots, requesters, AbortSignal.any([end, job.displaced.signal]))
    // Otherwise one of them has got a slot without waiting.
    if (slots.running === running && !this.#add(job)) job.displaced.abort()
    try {
      return await taken
    } finally {
      this.#jobs.delete(job)
    }
  }

  /** Returns false if there is no room. */
  #add(job: QueuedJob): boolean {
    const { clients } = job.requesters
    if (clients.every((client) => this.#lengthOf(client) >= this.#maxPerClient)) return false
    if (this.#jobs.size >= this.#max) {
      const displaced = this.#longest(job)
      if (displaced === undefined) return false
      this.#jobs.delete(displaced)
      displaced.displaced.abort()
    }
    this.#jobs.add(job)
    return true
  }

  #lengthOf(client: string): number {
    let length = 0
    for (const { requesters } of this.#jobs) if (requesters.has(client)) length++
    return length
  }

  /** The job at whose expense there is room for another one. */
  #longest(job: QueuedJob): QueuedJob | undefined {
    const ofClients = new Map<string, number>()
    const ofGroups = new Map<string, number>()
    for (const { requesters } of this.#jobs) {
      const { clients } = requesters
      for (const client of clients) increment(ofClients, client)
      for (const group of new Set(clients.map(groupBefore))) increment(ofGroups, group)
    }
    const lengthFor = ({ requesters }: QueuedJob): QueueLength => {
      const lengths = requesters.clients.map((client) => {
        const group = groupBefore(client)
        return { group, ofGroup: ofGroups.get(group) ?? 0, ofClient: ofClients.get(client) ?? 0 }
      })
      return lengths.reduce((a, b) => (compareLengths(a, b) <= 0 ? a : b), UNWANTED)
    }
    return findLongest(this.#jobs, lengthFor, lengthFor(job))
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
