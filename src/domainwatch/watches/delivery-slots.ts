import { setTimeout as sleep } from 'node:timers/promises'
import { FairSlots } from '../../lib/fair-slots.ts'
import { RateLimit } from '../../lib/rate-limit.ts'

/** Concurrent deliveries, in total and per account. An idle socket costs little. */
const QUICK = { slots: 256, slotsPerClient: 16 }
/** The same for receivers whose last delivery was slow or failed. */
const SLOW = { slots: 128, slotsPerClient: 8 }
/** Limits per receiver (host and port). */
const PER_HOST = { slots: 16, slotsPerClient: 4 }
/** Each watch has at most one delivery, and an account 50 watches, so a queue is no longer than the number of watches. */
const QUEUE = { maxWaiting: 1_000_000, maxWaitingPerClient: 1_000, timeoutMs: 60 * 60 * 1000 }
/** Requests from one account to one host. Changes that arrive during the wait are delivered together. */
const PACE = { burst: 20, perSecond: 10, maxClients: 10_000 }
/** A delivery that takes longer marks its watch as slow for the next one. */
const SLOW_MS = 2_000

export interface DeliveryOwner {
  readonly watch: string
  readonly account: string
  /** URL of the receiver. */
  readonly url: string
}

/**
 * Limits concurrent webhook deliveries so that no account and no receiver delays the deliveries of another: each account has
 * its own slots, accounts take turns at each host, and slow receivers use a separate pool.
 */
export class DeliverySlots {
  readonly #quick = new FairSlots({ ...QUICK, ...QUEUE })
  readonly #slow = new FairSlots({ ...SLOW, ...QUEUE })
  readonly #hosts = new Map<string, FairSlots>()
  readonly #pace = new RateLimit(PACE)
  readonly #slowWatches = new Set<string>()

  /**
   * @param hasFailed whether the last attempt failed
   * @throws WaitAborted or an AbortError if `signal` aborts during the wait
   */
  async run<T>(
    { watch, account, url }: DeliveryOwner,
    hasFailed: boolean,
    signal: AbortSignal,
    deliver: () => Promise<T>,
  ): Promise<T> {
    const { host } = new URL(url)
    await this.#paced(`${account} ${host}`, signal)
    const slots = hasFailed || this.#slowWatches.has(watch) ? this.#slow : this.#quick
    return this.#atHost(host, account, signal, () =>
      slots.run(account, () => this.#timed(watch, deliver), signal),
    )
  }

  /** Drops what is known about a watch. */
  forget(watch: string): void {
    this.#slowWatches.delete(watch)
  }

  async #paced(client: string, signal: AbortSignal): Promise<void> {
    for (let wait = this.#pace.waitOf(client); wait > 0; wait = this.#pace.waitOf(client)) {
      await sleep(wait, undefined, { signal })
    }
    this.#pace.count(client)
  }

  async #atHost<T>(host: string, account: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    const slots = this.#hosts.get(host) ?? new FairSlots({ ...PER_HOST, ...QUEUE })
    this.#hosts.set(host, slots)
    try {
      return await slots.run(account, task, signal)
    } finally {
      if (slots.running === 0 && slots.waiting === 0) this.#hosts.delete(host)
    }
  }

  async #timed<T>(watch: string, deliver: () => Promise<T>): Promise<T> {
    const begin = performance.now()
    try {
      return await deliver()
    } finally {
      if (performance.now() - begin > SLOW_MS) this.#slowWatches.add(watch)
      else this.#slowWatches.delete(watch)
    }
  }
}
