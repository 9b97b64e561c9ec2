import { LRUCache } from 'lru-cache'
import type { Requesters } from './requesters.ts'

/** Clients whose run time is remembered while others wait; past it the one that ran longest ago counts as new. */
const MAX_CLIENTS = 10_000

/** Virtual times this close count as equal: who has one job goes before those who have many, until it has used this much. */
const GRACE_MS = 1_000

interface Queued {
  readonly requesters: Requesters
}

interface Candidate<Job> {
  readonly client: string
  readonly first: Job
  readonly running: number
  /** Virtual time from which its next job counts. */
  readonly start: number
  waiting: number
}

/**
 * Jobs that wait, handed out by client instead of by age, so that the clients who want the lane get equal run time (start-time
 * fair queueing; Goyal, Vin and Cheng, 1996). Next is the client with the fewest running jobs, then the one whose turn began
 * earliest in virtual time, then the one with the shortest queue. Jobs of one client keep their order. A client is neither
 * credited for the time it was away nor charged for what it used while the lane had nothing else to do.
 */
export class FairQueue<Job extends Queued> {
  /** Oldest first. */
  readonly #jobs: Job[] = []
  readonly #running = new Map<string, number>()
  /** When the last job of each client ends in virtual time, which is the run time of one client. */
  readonly #finish = new LRUCache<string, number>({ max: MAX_CLIENTS })
  #virtualTime = 0
  /** Jobs under way. */
  running = 0

  get length(): number {
    return this.#jobs.length
  }

  [Symbol.iterator](): ArrayIterator<Job> {
    return this.#jobs[Symbol.iterator]()
  }

  push(job: Job): void {
    this.#jobs.push(job)
  }

  /** Puts a job before all others of its clients. */
  pushFirst(job: Job): void {
    this.#jobs.unshift(job)
  }

  /** @returns whether it was waiting here */
  remove(job: Job): boolean {
    const at = this.#jobs.indexOf(job)
    if (at >= 0) this.#jobs.splice(at, 1)
    return at >= 0
  }

  /** Takes the next job, which runs until `done`. `client` is the one whose turn it is. */
  next(): { readonly job: Job; readonly client: string } | undefined {
    const candidates = [...this.#candidates()]
    if (candidates.length === 0) return undefined
    // The least of all, not that of the next one: a client that is passed over keeps its claim.
    this.#virtualTime = candidates.reduce((least, { start }) => Math.min(least, start), Infinity)
    const best = candidates.reduce((a, b) => (isBefore(b, a, this.#virtualTime) ? b : a))
    this.remove(best.first)
    this.adopt(best.client)
    return { job: best.first, client: best.client }
  }

  /** Counts a job as running that did not wait here. */
  adopt(client: string): void {
    this.#running.set(client, (this.#running.get(client) ?? 0) + 1)
    this.running++
  }

  /** Charges a client for a job that has ended. @param ms its run time */
  done(client: string, ms: number): void {
    const left = (this.#running.get(client) ?? 0) - 1
    if (left > 0) this.#running.set(client, left)
    else this.#running.delete(client)
    this.running--
    this.#finish.set(client, this.#startOf(client) + ms)
    if (this.running > 0 || this.#jobs.length > 0) return
    this.#virtualTime = 0
    this.#finish.clear()
  }

  #candidates(): Iterable<Candidate<Job>> {
    const candidates = new Map<string, Candidate<Job>>()
    for (const job of this.#jobs) {
      for (const client of job.requesters.clients) {
        const known = candidates.get(client)
        if (known !== undefined) {
          known.waiting++
          continue
        }
        const running = this.#running.get(client) ?? 0
        candidates.set(client, { client, first: job, running, start: this.#startOf(client), waiting: 1 })
      }
    }
    return candidates.values()
  }

  #startOf(client: string): number {
    return Math.max(this.#virtualTime, this.#finish.get(client) ?? 0)
  }
}

function isBefore(one: Candidate<unknown>, other: Candidate<unknown>, now: number): boolean {
  if (one.running !== other.running) return one.running < other.running
  const [turn, otherTurn] = [one, other].map(({ start }) => Math.floor((start - now) / GRACE_MS))
  if (turn !== otherTurn) return (turn ?? 0) < (otherTurn ?? 0)
  return one.waiting === other.waiting ? one.start < other.start : one.waiting < other.waiting
}
