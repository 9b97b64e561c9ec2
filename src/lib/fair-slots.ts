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
  readonly start: () => void
  readonly refuse: (error: unknown) => void
}

interface Usage {
  running: number
  /** When its last task started, in tasks started so far. */
  lastStart: number
}

interface Group extends Usage {
  readonly name: string
  /** Of its finished tasks. */
  cost: number
  waiting: number
  members: number
}

interface Client extends Usage {
  readonly group: Group
  readonly waiting: Waiter[]
}

/** The task was aborted while it waited for a slot. */
export class WaitAborted extends Error {}

/**
 * Limits how many tasks run at the same time and shares the slots among clients: a free slot goes to the waiting client
 * that runs the fewest tasks, and among equals to the one served longest ago. Tasks of one client run in their order.
 * When the queue is full, a client with a shorter queue displaces the newest task of the client with the longest one, so
 * that no client can fill the queue. The same rules apply to groups of clients first, so that a crowd of clients that
 * belong together is no more than one. If tasks have costs, groups get equal shares of the cost instead of turns.
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
    if (this.#running < this.#options.slots && state.running < this.#options.slotsPerClient)
      this.#begin(state)
    else await this.#wait(client, state, signal)
    let isHeld = true
    return () => {
      if (isHeld) this.#release(client, state, cost)
      isHeld = false
    }
  }

  #clientOf(client: string): Client {
    const known = this.#clients.get(client)
    if (known !== undefined) return known
    // Ranks before the client served last and after clients that wait already: its own history was forgotten.
    const fresh: Usage = { running: 0, lastStart: this.#starts - 0.5 }
    const name = this.#options.groupOf?.(client) ?? client
    const group = this.#groups.get(name) ?? {
      ...fresh,
      name,
      cost: this.#leastCost(),
      waiting: 0,
      members: 0,
    }
    this.#groups.set(name, group)
    group.members++
    const made: Client = { ...fresh, group, waiting: [] }
    this.#clients.set(client, made)
    return made
  }

  /** Of the groups that have tasks: a group that had none has saved nothing up. */
  #leastCost(): number {
    const costs = Array.from(this.#groups.values(), ({ cost }) => cost)
    return costs.length === 0 ? 0 : Math.min(...costs)
  }

  #begin(state: Client): void {
    this.#starts++
    for (const usage of [state, state.group]) {
      usage.running++
      usage.lastStart = this.#starts
    }
    this.#running++
  }

  #wait(client: string, state: Client, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxWaitingPerClient, timeoutMs } = this.#options
    const isFull = this.#waiting >= maxWaiting && !this.#displace(state)
    if (isFull || state.waiting.length >= maxWaitingPerClient) {
      this.#forget(client, state)
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
        client,
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
      state.waiting.push(waiter)
      state.group.waiting++
      this.#waiting++
    })
  }

  /** Makes room for a task of `state`; false if no other client or group has a longer queue than it would have. */
  #displace(state: Client): boolean {
    let longest = state
    // Among equals the one that came last.
    for (const other of this.#clients.values()) if (!isLonger(longest, other)) longest = other
    const newest = longest.waiting.at(-1)
    const isOwn = longest.group === state.group
    const surplus = isOwn
      ? longest.waiting.length - state.waiting.length
      : longest.group.waiting - state.group.waiting
    if (newest === undefined || surplus <= 1) return false
    this.#remove(newest)
    newest.refuse(new OverloadError())
    return true
  }

  #remove(waiter: Waiter): void {
    const state = this.#clients.get(waiter.client)
    const at = state?.waiting.indexOf(waiter) ?? -1
    if (state === undefined || at < 0) return
    state.waiting.splice(at, 1)
    state.group.waiting--
    this.#waiting--
    this.#forget(waiter.client, state)
  }

  #release(client: string, state: Client, cost: number): void {
    state.group.cost += cost
    state.running--
    state.group.running--
    this.#running--
    this.#forget(client, state)
    this.#startNext()
  }

  #startNext(): void {
    let best: Client | undefined
    for (const state of this.#clients.values()) {
      if (state.waiting.length === 0 || state.running >= this.#options.slotsPerClient) continue
      if (best === undefined || isBefore(state, best)) best = state
    }
    const next = best?.waiting.shift()
    if (best === undefined || next === undefined) return
    best.group.waiting--
    this.#waiting--
    this.#begin(best)
    next.start()
  }

  /** Drops the state of a client without tasks, so that the map stays small. */
  #forget(client: string, state: Client): void {
    if (state.running > 0 || state.waiting.length > 0 || !this.#clients.delete(client)) return
    if (--state.group.members === 0) this.#groups.delete(state.group.name)
  }
}

const isBefore = (a: Client, b: Client): boolean => (orderOfGroups(a.group, b.group) || order(a, b)) < 0

/** Negative if `a` is to be served before `b`. */
const order = (a: Usage, b: Usage): number => a.running - b.running || a.lastStart - b.lastStart

const orderOfGroups = (a: Group, b: Group): number =>
  a.running - b.running || a.cost - b.cost || a.lastStart - b.lastStart

function isLonger(a: Client, b: Client): boolean {
  if (a.group.waiting !== b.group.waiting) return a.group.waiting > b.group.waiting
  return a.waiting.length > b.waiting.length
}
