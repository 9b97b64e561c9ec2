import { OverloadError, asError } from './errors.ts'

/** Runs one task at a time, in order. */
export class Mutex {
  readonly #slots: FairSlots

  /**
   * @param maxWaiting tasks that may wait; more are rejected with OverloadError
   * @param timeoutMs longest wait of a task
   */
  constructor(maxWaiting: number, timeoutMs: number) {
    this.#slots = new FairSlots({
      slots: 1,
      slotsPerClient: 1,
      maxWaiting,
      maxWaitingPerClient: maxWaiting,
      timeoutMs,
    })
  }

  run<T>(task: () => Promise<T>): Promise<T> {
    return this.#slots.run('', task)
  }
}

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
  /** Longest wait for a slot, in milliseconds. */
  readonly timeoutMs: number
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

interface Usage {
  running: number
  waiting: number
  /** When its last task started, in tasks started so far. */
  lastStart: number
  /** Of the tasks that it started, or more: see `#levelUp`. */
  cost: number
}

interface Group extends Usage {
  readonly name: string
  readonly members: Set<Client>
}

interface Client extends Usage {
  readonly name: string
  readonly group: Group
  readonly queue: Waiter[]
}

/** The task was aborted while it waited for a slot. */
export class WaitAborted extends Error {}

/**
 * Limits how many tasks run at the same time and shares the slots among clients: a free slot goes to the waiting client
 * that runs the fewest tasks, and among equals to the one served longest ago. Tasks of one client run in their order.
 * When the queue is full, a client with a shorter queue displaces the newest task of the client with the longest one, so
 * that no client can fill the queue. The same rules apply to groups of clients first, so that a crowd of clients that
 * belong together is no more than one. If tasks have costs, the shares of the cost are equal instead of the turns: among
 * equals the next task is that after which its client has used the least, so a cheap one waits for one expensive one at most.
 */
export class FairSlots {
  readonly #options: FairSlotsOptions
  readonly #clients = new Map<string, Client>()
  readonly #groups = new Map<string, Group>()
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
   * @throws WaitAborted if `signal` aborts during the wait
   */
  async run<T>(client: string, task: () => Promise<T>, signal?: AbortSignal, cost = 0): Promise<T> {
    const release = await this.take(client, signal, cost)
    try {
      return await task()
    } finally {
      release()
    }
  }

  /** Takes a slot that outlives the call. Returns the function that releases it; releasing twice has no effect. */
  async take(client: string, signal?: AbortSignal, cost = 0): Promise<() => void> {
    if (signal?.aborted === true) throw new WaitAborted()
    const state = this.#clientOf(client)
    if (cost > 0) this.#levelUp(state)
    if (this.#running < this.#options.slots && this.#mayRunMore(state)) this.#begin(state, cost)
    else await this.#wait(state, signal, cost)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(state)
      isHeld = false
    }
  }

  #clientOf(name: string): Client {
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    // Ranks before the client served last and after clients that wait already: its own history was forgotten.
    const fresh = { running: 0, waiting: 0, lastStart: this.#starts - 0.5, cost: 0 }
    const groupName = this.#options.groupOf?.(name) ?? name
    let group = this.#groups.get(groupName)
    if (group === undefined) {
      group = { ...fresh, name: groupName, members: new Set() }
      this.#groups.set(groupName, group)
    }
    const client: Client = { ...fresh, name, group, queue: [] }
    group.members.add(client)
    this.#clients.set(name, client)
    return client
  }

  /** Who had no tasks begins with what others have used at least: idle time gives no credit. */
  #levelUp(client: Client): void {
    const { group } = client
    if (!isBusy(group)) group.cost = Math.max(group.cost, leastCost(this.#groups.values()) ?? 0)
    if (!isBusy(client)) client.cost = Math.max(client.cost, leastCost(group.members) ?? 0)
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
      usage.cost += cost
    }
    this.#running++
  }

  #wait(state: Client, signal: AbortSignal | undefined, cost: number): Promise<void> {
    const { maxWaiting, maxWaitingPerClient, timeoutMs } = this.#options
    const isFull = this.#waiting >= maxWaiting && !this.#displace(state)
    if (isFull || state.waiting >= maxWaitingPerClient) {
      this.#forget(state)
      return Promise.reject(new OverloadError())
    }
    return new Promise((resolve, reject) => {
      const leave = (error: Error) => {
        this.#remove(waiter)
        waiter.refuse(error)
      }
      const onAbort = () => leave(new WaitAborted())
      const timer = setTimeout(() => leave(new OverloadError()), timeoutMs)
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
    let longest = state
    // Among equals the one that came last.
    for (const other of this.#clients.values()) if (!isLonger(longest, other)) longest = other
    const newest = longest.queue.at(-1)
    const isOwn = longest.group === state.group
    const surplus = isOwn ? longest.waiting - state.waiting : longest.group.waiting - state.group.waiting
    if (newest === undefined || surplus <= 1) return false
    this.#remove(newest)
    newest.refuse(new OverloadError())
    return true
  }

  #remove(waiter: Waiter): void {
    const state = this.#clients.get(waiter.client)
    const at = state?.queue.indexOf(waiter) ?? -1
    if (state === undefined || at < 0) return
    state.queue.splice(at, 1)
    this.#countOut(state)
    this.#forget(state)
  }

  #countOut(state: Client): void {
    for (const usage of [state, state.group]) usage.waiting--
    this.#waiting--
  }

  #release(state: Client): void {
    for (const usage of [state, state.group]) usage.running--
    this.#running--
    this.#forget(state)
    this.#startNext()
  }

  #startNext(): void {
    let best: Client | undefined
    for (const group of this.#groups.values()) {
      let first: Client | undefined
      for (const member of group.members) {
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
    if (isBusy(state)) return
    if (state.group.cost === 0) this.#drop(state)
    else this.#dropOvertaken()
  }

  /** Drops idle clients that have used no more than those with tasks. The others would return as if they had used nothing. */
  #dropOvertaken(): void {
    const leastOfGroups = leastCost(this.#groups.values()) ?? Infinity
    for (const group of this.#groups.values()) {
      if (!isBusy(group) && group.cost > leastOfGroups) continue
      const least = leastCost(group.members) ?? Infinity
      for (const member of group.members) if (!isBusy(member) && member.cost <= least) this.#drop(member)
    }
  }

  #drop(client: Client): void {
    const { name, group } = client
    this.#clients.delete(name)
    group.members.delete(client)
    if (group.members.size === 0) this.#groups.delete(group.name)
  }
}

const isBusy = ({ running, waiting }: Usage): boolean => running + waiting > 0

/** Of those that have tasks; undefined if none has any. */
function leastCost(usages: Iterable<Usage>): number | undefined {
  let least: number | undefined
  for (const usage of usages)
    if (isBusy(usage) && (least === undefined || usage.cost < least)) least = usage.cost
  return least
}

/** Negative if the next task of `a` is to be served before that of `b`. */
const order = (a: Usage, nextOfA: Client, b: Usage, nextOfB: Client): number =>
  a.running - b.running ||
  a.cost + costOfNext(nextOfA) - b.cost - costOfNext(nextOfB) ||
  a.lastStart - b.lastStart

const costOfNext = ({ queue }: Client): number => queue[0]?.cost ?? 0

function isLonger(a: Client, b: Client): boolean {
  if (a.group.waiting !== b.group.waiting) return a.group.waiting > b.group.waiting
  return a.waiting > b.waiting
}
