import { lruCache } from '../../lib/lru-cache.ts'

/** The client of work that no client requested, such as a background job. */
export const SERVICE_CLIENT = 'service'

/**
 * The clients that wait for the result of one job, which may come and go. The job runs in the turn of any of them, so that
 * nobody is delayed by joining a job of a client with a long queue.
 */
export class Requesters {
  readonly #requests = new Map<string, number>()

  constructor(...clients: readonly string[]) {
    for (const client of clients) this.add(client)
  }

  /** Each client once, however many of its requests wait. */
  get clients(): Iterable<string> {
    return this.#requests.keys()
  }

  get size(): number {
    return this.#requests.size
  }

  has(client: string): boolean {
    return this.#requests.has(client)
  }

  add(client: string): void {
    this.#requests.set(client, (this.#requests.get(client) ?? 0) + 1)
  }

  remove(client: string): void {
    const left = (this.#requests.get(client) ?? 0) - 1
    if (left > 0) this.#requests.set(client, left)
    else this.#requests.delete(client)
  }
}

/** Clients whose run time is remembered while others wait. The least recent one beyond that counts as new. */
const MAX_CLIENTS = 10_000

/** Virtual times this close count as equal: a client with one job goes before those with many until it has used this much. */
const GRACE_MS = 1_000

interface Queued {
  readonly requesters: Requesters
}

interface Candidate<Job> {
  readonly client: string
  readonly first: Job
  readonly running: number
  /** Virtual time at which its next job starts. */
  readonly start: number
  waiting: number
}

/**
 * A queue that gives competing clients equal run time (start-time fair queueing; Goyal, Vin and Cheng, 1996). Next is the
 * client with the fewest running jobs, then the one with the earliest virtual start, then the one with the shortest queue.
 * Jobs of one client run in order. Clients get no credit for times when they had no jobs, and no charge for what they used
 * while nobody else waited.
 */
export class FairQueue<Job extends Queued> {
  /** Oldest first. */
  readonly #jobs: Job[] = []
  readonly #running = new Map<string, number>()
  /** Virtual time (run time per client) at which the last job of each client ends. */
  readonly #finish = lruCache<number>(MAX_CLIENTS)
  #virtualTime = 0
  /** Running jobs. */
  running = 0

  get length(): number {
    return this.#jobs.length
  }

  [Symbol.iterator](): ArrayIterator<Job> {
    return this.#jobs[Symbol.iterator]()
  }

  /** @param isFirst puts it before all other jobs of its clients */
  push(job: Job, isFirst = false): void {
    if (isFirst) this.#jobs.unshift(job)
    else this.#jobs.push(job)
  }

  /** Returns whether the job was waiting here. */
  remove(job: Job): boolean {
    const at = this.#jobs.indexOf(job)
    if (at >= 0) this.#jobs.splice(at, 1)
    return at >= 0
  }

  /** Takes the next job, which runs until `done`. `client` is the one whose turn it uses. */
  next(): { readonly job: Job; readonly client: string } | undefined {
    const candidates = this.#candidates()
    if (candidates.length === 0) return undefined
    // The least of all, not that of the next one: a client that is passed over keeps its claim.
    this.#virtualTime = Math.min(...candidates.map(({ start }) => start))
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

  /** Charges a client for a finished job. @param ms its run time */
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

  #candidates(): Candidate<Job>[] {
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
    return [...candidates.values()]
  }

  #startOf(client: string): number {
    return Math.max(this.#virtualTime, this.#finish.get(client) ?? 0)
  }
}

function isBefore(one: Candidate<unknown>, other: Candidate<unknown>, now: number): boolean {
  if (one.running !== other.running) return one.running < other.running
  const turnOf = ({ start }: Candidate<unknown>) => Math.floor((start - now) / GRACE_MS)
  if (turnOf(one) !== turnOf(other)) return turnOf(one) < turnOf(other)
  return one.waiting === other.waiting ? one.start < other.start : one.waiting < other.waiting
}

/**
 * Finds room for one more job of these clients. In full queues, a client with few jobs displaces a job of the client with
 * the most: the newest that only this client wants.
 * @param limits on waiting jobs in all queues together
 * @returns false if there is no room; `displaced` has to be rejected
 */
export function makeRoom<Job extends Queued>(
  queues: readonly FairQueue<Job>[],
  requesters: Requesters,
  limits: { readonly queue: number; readonly queuePerClient: number },
): { readonly hasRoom: boolean; readonly displaced?: Job } {
  const jobs = queues.flatMap((queue) => [...queue])
  const waiting = new Map<string, number>()
  for (const job of jobs)
    for (const client of job.requesters.clients) waiting.set(client, (waiting.get(client) ?? 0) + 1)
  const own = Math.min(
    limits.queuePerClient,
    ...[...requesters.clients].map((client) => waiting.get(client) ?? 0),
  )
  if (own >= limits.queuePerClient) return { hasRoom: false }
  if (jobs.length < limits.queue) return { hasRoom: true }
  const [longest] = [...waiting].sort(([, one], [, other]) => other - one)
  if (longest === undefined || longest[1] <= own + 1) return { hasRoom: false }
  for (const queue of queues) {
    const displaced = [...queue].findLast(
      (job) => job.requesters.size === 1 && job.requesters.has(longest[0]),
    )
    if (displaced !== undefined && queue.remove(displaced)) return { hasRoom: true, displaced }
  }
  return { hasRoom: false }
}
