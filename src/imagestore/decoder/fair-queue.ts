import { groupBefore } from '../../lib/fair-slots.ts'
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

/** A client or a group that waits. */
interface Waiting {
  readonly name: string
  readonly running: number
  /** Virtual time at which its next job starts. */
  readonly start: number
  waiting: number
}

interface Candidate<Job> extends Waiting {
  readonly first: Job
}

/** The run time of clients or of groups. */
class RunTimes {
  readonly #running = new Map<string, number>()
  /** Virtual time (run time of each that competes) at which the last job of each ends. */
  readonly #finish = lruCache<number>(MAX_CLIENTS)
  #now = 0

  waiting(name: string): Waiting {
    return { name, running: this.#running.get(name) ?? 0, start: this.#startOf(name), waiting: 1 }
  }

  begin(name: string): void {
    this.#running.set(name, (this.#running.get(name) ?? 0) + 1)
  }

  done(name: string, ms: number): void {
    const left = (this.#running.get(name) ?? 0) - 1
    if (left > 0) this.#running.set(name, left)
    else this.#running.delete(name)
    this.#finish.set(name, this.#startOf(name) + ms)
  }

  /** Returns whose turn it is. */
  first<T extends Waiting>(candidates: readonly T[]): T | undefined {
    if (candidates.length === 0) return undefined
    // The least of all, not that of the next one: a client that is passed over keeps its claim.
    this.#now = Math.min(...candidates.map(({ start }) => start))
    return candidates.reduce((a, b) => (isBefore(b, a, this.#now) ? b : a))
  }

  reset(): void {
    this.#now = 0
    this.#finish.clear()
  }

  #startOf(name: string): number {
    return Math.max(this.#now, this.#finish.get(name) ?? 0)
  }
}

/**
 * A queue that gives competing clients equal run time (start-time fair queueing; Goyal, Vin and Cheng, 1996). Next is the
 * client with the fewest running jobs, then the one with the earliest virtual start, then the one with the shortest queue.
 * Jobs of one client run in order. Clients get no credit for times when they had no jobs, and no charge for what they used
 * while nobody else waited. The same rules apply to groups of clients first (`groupBefore`): a crowd of addresses that request
 * public links takes half of the time while applications upload.
 */
export class FairQueue<Job extends Queued> {
  /** Oldest first. */
  readonly #jobs: Job[] = []
  readonly #groups = new RunTimes()
  /** By group. There are only a few. */
  readonly #clients = new Map<string, RunTimes>()
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
    const groups = new Map<string, Waiting>()
    for (const { name, waiting } of candidates) {
      const group = groupBefore(name)
      const known = groups.get(group)
      if (known === undefined) groups.set(group, { ...this.#groups.waiting(group), waiting })
      else known.waiting += waiting
    }
    const group = this.#groups.first([...groups.values()])
    if (group === undefined) return undefined
    const members = candidates.filter(({ name }) => groupBefore(name) === group.name)
    const best = this.#runTimes(group.name).first(members)
    if (best === undefined) return undefined
    this.remove(best.first)
    this.adopt(best.name)
    return { job: best.first, client: best.name }
  }

  /** Counts a job as running that did not wait here. */
  adopt(client: string): void {
    const group = groupBefore(client)
    this.#runTimes(group).begin(client)
    this.#groups.begin(group)
    this.running++
  }

  /** Charges a client for a finished job. @param ms its run time */
  done(client: string, ms: number): void {
    const group = groupBefore(client)
    this.#runTimes(group).done(client, ms)
    this.#groups.done(group, ms)
    this.running--
    if (this.running > 0 || this.#jobs.length > 0) return
    this.#groups.reset()
    for (const clients of this.#clients.values()) clients.reset()
  }

  #runTimes(group: string): RunTimes {
    const known = this.#clients.get(group) ?? new RunTimes()
    this.#clients.set(group, known)
    return known
  }

  #candidates(): Candidate<Job>[] {
    const candidates = new Map<string, Candidate<Job>>()
    for (const job of this.#jobs) {
      for (const client of job.requesters.clients) {
        const known = candidates.get(client)
        if (known === undefined)
          candidates.set(client, { ...this.#runTimes(groupBefore(client)).waiting(client), first: job })
        else known.waiting++
      }
    }
    return [...candidates.values()]
  }
}

function isBefore(one: Waiting, other: Waiting, now: number): boolean {
  if (one.running !== other.running) return one.running < other.running
  const turnOfStart = ({ start }: Waiting) => Math.floor((start - now) / GRACE_MS)
  if (turnOfStart(one) !== turnOfStart(other)) return turnOfStart(one) < turnOfStart(other)
  return one.waiting === other.waiting ? one.start < other.start : one.waiting < other.waiting
}

/**
 * Finds room for one more job of these clients. In full queues, a client with few jobs displaces a job of the client with
 * the most: the newest that only this client wants. A group with few jobs displaces one of the group with the most.
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
  const longest = longestQueue(waiting, requesters, own)
  if (longest === undefined) return { hasRoom: false }
  for (const queue of queues) {
    const displaced = [...queue].findLast((job) => job.requesters.size === 1 && job.requesters.has(longest))
    if (displaced !== undefined && queue.remove(displaced)) return { hasRoom: true, displaced }
  }
  return { hasRoom: false }
}

/**
 * Returns the client that has to give way to one more job of `requesters`.
 * @param waiting jobs by client
 * @param own of the requester with the fewest
 */
function longestQueue(
  waiting: ReadonlyMap<string, number>,
  requesters: Requesters,
  own: number,
): string | undefined {
  const groups = new Map<string, number>()
  for (const [client, jobs] of waiting) {
    const group = groupBefore(client)
    groups.set(group, (groups.get(group) ?? 0) + jobs)
  }
  const ownGroups = [...requesters.clients].map(groupBefore)
  const ownOfGroup = Math.min(...ownGroups.map((group) => groups.get(group) ?? 0))
  const group = [...groups].toSorted(([, one], [, other]) => one - other).at(-1)
  if (group === undefined) return undefined
  const isOwn = ownGroups.includes(group[0])
  if (!isOwn && group[1] <= ownOfGroup + 1) return undefined
  const members = [...waiting].filter(([client]) => groupBefore(client) === group[0])
  // Among equals the one that came last.
  const longest = members.toSorted(([, one], [, other]) => one - other).at(-1)
  return longest === undefined || (isOwn && longest[1] <= own + 1) ? undefined : longest[0]
}
