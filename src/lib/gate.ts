import { type Client, isAddress } from './client.ts'
import { OverloadError, asError } from './errors.ts'

export interface GateOptions {
  /** Tasks that run at the same time. */
  readonly running: number
  /** Running tasks of one client; by default all. Fewer than `running` keep a place free for other clients. */
  readonly perClient?: number
  /** Tasks that wait. */
  readonly waiting: number
  /** Waiting tasks of one client; by default all. */
  readonly waitingPerClient?: number
  /** Longest wait of a task; by default only its signal ends it. */
  readonly waitMs?: number
  /** How long the tasks of one client may run, one after the other, before others have their turn; by default one task. */
  readonly turnMs?: number
  /** Total weight of the tasks that run. A heavier task runs alone. */
  readonly weight?: number
}

/** Ends a task. Calling it again has no effect. */
export type Leave = () => void

interface Waiter {
  readonly weight: number
  readonly enter: () => void
  readonly refuse: (error: unknown) => void
}

interface Line {
  running: number
  /** Milliseconds used in this turn. */
  usedMs: number
  readonly waiters: Waiter[]
}

/**
 * Limits how many tasks run and how many wait. Clients take turns: next is the client that runs the fewest tasks, and among equals
 * the one whose last turn ended first. A turn ends when its task ends, not when it starts: a client that arrives meanwhile is
 * next. If too many wait, the newest task in the longest line is refused, so no client can fill the gate.
 * To share by groups first, put one gate behind another.
 */
export class Gate<Name extends string = Client> {
  readonly #options: GateOptions
  /** The clients that have tasks, in the order of their turns. */
  readonly #lines = new Map<Name, Line>()
  #running = 0
  #weight = 0
  #waiting = 0

  constructor(options: GateOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /**
   * Runs a task in the turn of its client.
   * @throws OverloadError if too many tasks wait, or this one waited too long
   * @throws the reason of `signal` if it aborts during the wait
   */
  async run<T>(client: Name, task: () => Promise<T>, signal?: AbortSignal, weight = 1): Promise<T> {
    const leave = await this.enter(client, signal, weight)
    try {
      return await task()
    } finally {
      leave()
    }
  }

  /** Waits for the turn of a task that outlives the call, and ends with the function that this returns. */
  async enter(client: Name, signal?: AbortSignal, weight = 1): Promise<Leave> {
    signal?.throwIfAborted()
    const { promise: entered, resolve, reject } = Promise.withResolvers<void>()
    const { waitMs } = this.#options
    let timer: NodeJS.Timeout | undefined
    const waiter: Waiter = {
      weight,
      enter: resolve,
      refuse: (error) => {
        this.#remove(client, waiter)
        reject(asError(error))
      },
    }
    const onAbort = () => waiter.refuse(signal?.reason)
    if (this.#join(client, waiter)) {
      signal?.addEventListener('abort', onAbort, { once: true })
      if (waitMs !== undefined) timer = setTimeout(() => waiter.refuse(new OverloadError()), waitMs)
    }
    try {
      await entered
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const start = performance.now()
    let isInside = true
    return () => {
      if (isInside) this.#end(client, weight, performance.now() - start)
      isInside = false
    }
  }

  /** Adds a task to the line of its client. Returns whether it has to wait. */
  #join(client: Name, waiter: Waiter): boolean {
    const { waiting, waitingPerClient = Infinity } = this.#options
    const line = this.#lines.get(client) ?? { running: 0, usedMs: 0, waiters: [] }
    this.#lines.set(client, line)
    line.waiters.push(waiter)
    this.#waiting++
    this.#startNext()
    if (line.waiters.at(-1) !== waiter) return false
    if (line.waiters.length > waitingPerClient) waiter.refuse(new OverloadError())
    else if (this.#waiting > waiting) this.#newestOfLongest(line)?.refuse(new OverloadError())
    return line.waiters.at(-1) === waiter
  }

  /** @param own wins a tie: a task that arrives displaces none from a line that is no longer than its own */
  #newestOfLongest(own: Line): Waiter | undefined {
    let longest = own
    for (const line of this.#lines.values()) if (line.waiters.length > longest.waiters.length) longest = line
    return longest.waiters.at(-1)
  }

  #remove(client: Name, waiter: Waiter): void {
    const line = this.#lines.get(client)
    const place = line?.waiters.indexOf(waiter) ?? -1
    if (line === undefined || place === -1) return
    line.waiters.splice(place, 1)
    this.#waiting--
    this.#forget(client, line)
    // A heavy task that has left no longer holds up others.
    this.#startNext()
  }

  #startNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const [waiter] = next.waiters
      if (waiter === undefined || !this.#hasRoomFor(waiter.weight)) return
      next.waiters.shift()
      this.#waiting--
      next.running++
      this.#running++
      this.#weight += waiter.weight
      waiter.enter()
    }
  }

  /** The line whose turn it is. At most `running` clients have running tasks, so few are visited. */
  #next(): Line | undefined {
    const { running, perClient = Infinity } = this.#options
    let next: Line | undefined
    if (this.#running >= running) return undefined
    for (const line of this.#lines.values()) {
      if (line.waiters.length === 0 || line.running >= perClient) continue
      if (line.running === 0) return line
      if (next === undefined || line.running < next.running) next = line
    }
    return next
  }

  /** A task that does not fit waits, and all behind it: else light ones could hold it up forever. */
  #hasRoomFor(weight: number): boolean {
    return this.#running === 0 || this.#weight + weight <= (this.#options.weight ?? Infinity)
  }

  #end(client: Name, weight: number, ms: number): void {
    this.#running--
    this.#weight -= weight
    const line = this.#lines.get(client)
    if (line !== undefined) {
      line.running--
      line.usedMs += ms
      const isTurnOver = line.waiters.length === 0 || line.usedMs >= (this.#options.turnMs ?? 0)
      if (isTurnOver) this.#endTurn(client, line)
      this.#forget(client, line)
    }
    this.#startNext()
  }

  /** Puts a client behind all others. */
  #endTurn(client: Name, line: Line): void {
    line.usedMs = 0
    this.#lines.delete(client)
    this.#lines.set(client, line)
  }

  /** Drops a client without tasks. */
  #forget(client: Name, line: Line): void {
    if (line.running + line.waiters.length === 0) this.#lines.delete(client)
  }
}

/**
 * A gate for accounts and addresses. Addresses pass a gate of their own first and then count as one client, because anyone can
 * have many of them.
 */
export class SharedGate {
  readonly #addresses: Gate
  readonly #all: Gate

  /** @param perAddress running tasks of one address; by default as many as of any client */
  constructor(options: GateOptions, perAddress = options.perClient) {
    this.#addresses = new Gate({ ...options, ...(perAddress !== undefined && { perClient: perAddress }) })
    this.#all = new Gate(options)
  }

  get running(): number {
    return this.#all.running
  }

  get waiting(): number {
    return this.#addresses.waiting + this.#all.waiting
  }

  /** Runs a task in the turn of its client, as `Gate` does. */
  run<T>(client: Client, task: () => Promise<T>, signal?: AbortSignal, weight?: number): Promise<T> {
    const inTurn = (one: Client) => this.#all.run(one, task, signal, weight)
    if (!isAddress(client)) return inTurn(client)
    return this.#addresses.run(client, () => inTurn('unauthenticated'), signal, weight)
  }

  /** Waits for the turn of a task that outlives the call. */
  async enter(client: Client, signal?: AbortSignal): Promise<Leave> {
    if (!isAddress(client)) return this.#all.enter(client, signal)
    const leaveAddresses = await this.#addresses.enter(client, signal)
    try {
      const leave = await this.#all.enter('unauthenticated', signal)
      return () => {
        leave()
        leaveAddresses()
      }
    } catch (error) {
      leaveAddresses()
      throw error
    }
  }
}
