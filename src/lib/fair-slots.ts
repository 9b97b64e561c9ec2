import { OverloadError, asError } from './errors.ts'

export interface FairSlotsOptions {
  /** Tasks that run at the same time. */
  readonly slots: number
  /** Running tasks of one client. Less than `slots` keeps slots free for other clients. */
  readonly slotsPerClient: number
  /** Running tasks of all clients of one group; by default as many as its clients may run. */
  readonly slotsPerGroup?: number
  /** Tasks of all clients that may wait. */
  readonly maxWaiting: number
  /** Waiting tasks of one client. */
  readonly maxWaitingPerClient: number
  /** Longest wait for a slot, in milliseconds; by default only the signal ends it. */
  readonly timeoutMs?: number
  /** Returns the group of a client. Groups share the slots first, then the clients of a group. By default each is alone. */
  readonly groupOf?: (client: string) => string
}

/** Returns the group of a client whose name begins with it: `<group> <member>`. */
export const groupBefore = (client: string): string => client.split(' ', 1)[0] ?? client

interface Waiter {
  readonly client: string
  readonly cost: number
  readonly start: () => void
  readonly refuse: (error: unknown) => void
}

/** What a client or a group of clients that has tasks uses. */
interface Usage {
  readonly name: string
  running: number
  waiting: number
  /** When its last task started, in tasks started so far. */
  lastStart: number
  /** Cost of its tasks, counted from `Competitors.now` when it had none. */
  used: number
}

/** Groups, or the clients of one group. */
interface Competitors<Member extends Usage> {
  readonly busy: Map<string, Member>
  /** `used` of those without tasks that have used more than `now`. Without it they would return as if they had used nothing. */
  readonly idle: Map<string, number>
  /** Virtual time: the most that any had used when its last task started. */
  now: number
}

interface Group extends Usage {
  readonly clients: Competitors<Client>
}

interface Client extends Usage {
  readonly group: Group
  readonly queue: Waiter[]
}

/** Releases a slot. Calling it again has no effect. @param cost charged to its client, besides that given before */
export type ReleaseSlot = (cost?: number) => void

/** Clients, and groups, without tasks whose costs are remembered. */
const MAX_IDLE = 10_000

/**
 * Limits how many tasks run at the same time and shares the slots among clients: a free slot goes to the waiting client
 * that runs the fewest tasks, and among equals to the one served longest ago. Tasks of one client run in their order.
 * When the queue is full, a client with a shorter queue displaces the newest task of the client with the longest one, so
 * that no client can fill the queue. The same rules apply to groups of clients first, so that a crowd of clients that
 * belong together is no more than one. If tasks have costs, the shares of the cost are equal instead of the turns (start-time
 * fair queueing; Goyal, Vin and Cheng, 1996): among equals the next task is that after which its client has used the least,
 * so a cheap one waits for one expensive one at most. Idle time gives no credit.
 */
export class FairSlots {
  readonly #options: FairSlotsOptions
  readonly #groups = competitors<Group>()
  #running = 0
  #waiting = 0
  #starts = 0

  constructor(options: FairSlotsOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Runs a task when a slot is free.
   * @param cost in any unit
   * @throws OverloadError if the queue is full or the wait times out
   * @throws the reason of `signal` if it aborts during the wait
   */
  async run<T>(client: string, task: () => Promise<T>, signal?: AbortSignal, cost = 0): Promise<T> {
    const release = await this.take(client, signal, cost)
    try {
      return await task()
    } finally {
      release()
    }
  }

  /** Takes a slot that outlives the call. */
  async take(client: string, signal?: AbortSignal, cost = 0): Promise<ReleaseSlot> {
    signal?.throwIfAborted()
    const state = this.#clientOf(client)
    if (this.#running < this.#options.slots && this.#mayRunMore(state)) this.#begin(state, cost)
    else await this.#wait(state, signal, cost)
    return this.#releaseOf(state)
  }

  /** Takes a slot if one is free and nobody waits. */
  tryTake(client: string): ReleaseSlot | undefined {
    if (this.#waiting > 0 || this.#running >= this.#options.slots) return undefined
    const state = this.#clientOf(client)
    this.#begin(state, 0)
    return this.#releaseOf(state)
  }

  #groupOf(client: string): string {
    return this.#options.groupOf?.(client) ?? client
  }

  #clientOf(name: string): Client {
    // Ranks before the client served last and after clients that wait already: its own history was forgotten.
    const fresh = { running: 0, waiting: 0, lastStart: this.#starts - 0.5 }
    const group = memberOf(this.#groups, this.#groupOf(name), (own) => ({
      ...own,
      ...fresh,
      clients: competitors<Client>(),
    }))
    return memberOf(group.clients, name, (own) => ({ ...own, ...fresh, group, queue: [] }))
  }

  #mayRunMore({ running, group }: Client): boolean {
    const { slotsPerClient, slotsPerGroup = Infinity } = this.#options
    return running < slotsPerClient && group.running < slotsPerGroup
  }

  #begin(state: Client, cost: number): void {
    this.#starts++
    for (const usage of [state, state.group]) {
      usage.running++
      usage.lastStart = this.#starts
    }
    this.#charge(state, cost)
    this.#running++
  }

  #releaseOf(state: Client): ReleaseSlot {
    let isHeld = true
    return (cost = 0) => {
      if (!isHeld) return
      isHeld = false
      this.#charge(state, cost)
      for (const usage of [state, state.group]) usage.running--
      this.#running--
      this.#forget(state)
      this.#startNext()
    }
  }

  #charge(state: Client, cost: number): void {
    charge(state.group.clients, state, cost)
    charge(this.#groups, state.group, cost)
  }

  #wait(state: Client, signal: AbortSignal | undefined, cost: number): Promise<void> {
    const { maxWaiting, maxWaitingPerClient, timeoutMs } = this.#options
    // Its own limit first: a client that is rejected displaces nobody.
    const hasRoom =
      state.waiting < maxWaitingPerClient && (this.#waiting < maxWaiting || this.#displace(state))
    if (!hasRoom) {
      this.#forget(state)
      return Promise.reject(new OverloadError())
    }
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        this.#remove(waiter)
        waiter.refuse(error)
      }
      const onAbort = () => leave(signal?.reason)
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => leave(new OverloadError()), timeoutMs)
      const cleanUp = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        client: state.name,
        cost,
        start: () => {
          cleanUp()
          resolve()
        },
        refuse: (error) => {
          cleanUp()
          reject(asError(error))
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      state.queue.push(waiter)
      for (const usage of [state, state.group]) usage.waiting++
      this.#waiting++
    })
  }

  /** Makes room for a task of `state`; false if no other client or group has a longer queue than it would have. */
  #displace(state: Client): boolean {
    const others = [...this.#groups.busy.values()].flatMap(({ clients }) => [...clients.busy.values()])
    const newest = findLongest(others, lengthOf, lengthOf(state))?.queue.at(-1)
    if (newest === undefined) return false
    this.#remove(newest)
    newest.refuse(new OverloadError())
    return true
  }

  #remove(waiter: Waiter): void {
    const state = this.#clientOf(waiter.client)
    const at = state.queue.indexOf(waiter)
    if (at >= 0) {
      state.queue.splice(at, 1)
      this.#countOut(state)
    }
    this.#forget(state)
  }

  #countOut(state: Client): void {
    for (const usage of [state, state.group]) usage.waiting--
    this.#waiting--
  }

  #startNext(): void {
    let best: Client | undefined
    for (const group of this.#groups.busy.values()) {
      let first: Client | undefined
      for (const member of group.clients.busy.values()) {
        if (member.waiting === 0 || !this.#mayRunMore(member)) continue
        if (first === undefined || order(member, member, first, first) < 0) first = member
      }
      if (first === undefined) continue
      if (best === undefined || order(group, first, best.group, best) < 0) best = first
    }
    const next = best?.queue.shift()
    if (best === undefined || next === undefined) return
    this.#countOut(best)
    this.#begin(best, next.cost)
    next.start()
  }

  /** Drops the state of a client without tasks, so that the maps stay small. */
  #forget(state: Client): void {
    drop(state.group.clients, state)
    drop(this.#groups, state.group)
    // Nobody competes any more: what was used until now does not count.
    if (this.#groups.busy.size === 0) this.#groups.idle.clear()
  }
}

const competitors = <Member extends Usage>(): Competitors<Member> => ({
  busy: new Map(),
  idle: new Map(),
  now: 0,
})

function memberOf<Member extends Usage>(
  { busy, idle, now }: Competitors<Member>,
  name: string,
  create: (own: Pick<Usage, 'name' | 'used'>) => Member,
): Member {
  const known = busy.get(name)
  if (known !== undefined) return known
  const member = create({ name, used: Math.max(now, idle.get(name) ?? 0) })
  busy.set(name, member)
  return member
}

/** Charges a task that starts or ends. */
function charge<Member extends Usage>(all: Competitors<Member>, member: Member, cost: number): void {
  const before = member.used
  member.used += cost
  // Of what it uses while it is alone, nothing is held against it later.
  all.now = Math.max(all.now, all.busy.size === 1 ? member.used : before)
}

function drop<Member extends Usage>({ busy, idle, now }: Competitors<Member>, member: Member): void {
  const { name, running, waiting, used } = member
  if (running + waiting > 0) return
  busy.delete(name)
  idle.delete(name)
  if (used > now) idle.set(name, used)
  const [oldest] = idle.size > MAX_IDLE ? idle.keys() : []
  if (oldest !== undefined) idle.delete(oldest)
}

/** Negative if the next task of `a` is to be served before that of `b`. */
const order = (a: Usage, nextOfA: Client, b: Usage, nextOfB: Client): number =>
  a.running - b.running ||
  a.used + costOfNext(nextOfA) - b.used - costOfNext(nextOfB) ||
  a.lastStart - b.lastStart

const costOfNext = ({ queue }: Client): number => queue[0]?.cost ?? 0

/** How many tasks of a client, and of its group, wait. */
interface QueueLength {
  readonly group: string
  readonly ofGroup: number
  readonly ofClient: number
}

const lengthOf = ({ group, waiting }: Client): QueueLength => ({
  group: group.name,
  ofGroup: group.waiting,
  ofClient: waiting,
})

/** Compares queues: those of groups first, then those of clients. */
const compareLengths = (a: QueueLength, b: QueueLength): number =>
  a.ofGroup - b.ofGroup || a.ofClient - b.ofClient

/**
 * Returns the last candidate with the longest queue, of those at whose expense there is room for one more task.
 * @param own the queue that the task would join. It must not become longer than the one that it displaces from
 */
function findLongest<Candidate>(
  candidates: Iterable<Candidate>,
  lengthOf: (candidate: Candidate) => QueueLength,
  own: QueueLength,
): Candidate | undefined {
  let longest: { readonly candidate: Candidate; readonly length: QueueLength } | undefined
  for (const candidate of candidates) {
    const length = lengthOf(candidate)
    const surplus = length.group === own.group ? length.ofClient - own.ofClient : length.ofGroup - own.ofGroup
    if (surplus <= 1) continue
    if (longest === undefined || compareLengths(length, longest.length) >= 0) longest = { candidate, length }
  }
  return longest?.candidate
}
