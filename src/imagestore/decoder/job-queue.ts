import { compareLengths, findLongest, groupBefore, type QueueLength } from '../../lib/fair-slots.ts'
import type { Requesters } from './requesters.ts'

/** A job that waits. */
export interface QueuedJob {
  readonly requesters: Requesters
  /** Ends its wait, and removes it from the queue. */
  readonly reject: () => void
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

  /** Returns false if there is no room. */
  add(job: QueuedJob): boolean {
    const { clients } = job.requesters
    if (clients.every((client) => this.#lengthOf(client) >= this.#maxPerClient)) return false
    if (this.#jobs.size >= this.#max) {
      const displaced = this.#longest(job)
      if (displaced === undefined) return false
      displaced.reject()
    }
    this.#jobs.add(job)
    return true
  }

  delete(job: QueuedJob): void {
    this.#jobs.delete(job)
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
