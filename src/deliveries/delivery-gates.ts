import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../lib/client.ts'
import { Gate, type GateOptions } from '../lib/gate.ts'
import { RateLimit } from '../lib/rate-limit.ts'

/** Deliveries of one account, in total and to one receiver (host and port). */
const OF_ACCOUNT = { running: 16, perClient: 4, waiting: Infinity }
/** Deliveries to one receiver. */
const TO_HOST = { running: 8, waiting: Infinity }
/** All deliveries. An idle socket costs little. */
const ALL = { running: 256, waiting: Infinity }
/** Deliveries of one account to one receiver. Changes that arrive during the wait are delivered together. */
const PACE = { burst: 20, perSecond: 10, maxClients: 10_000 }

/**
 * Limits concurrent deliveries so that no account and no receiver delays the deliveries of another. A delivery passes the gate of
 * its account, where its receivers take turns, then that of its receiver, where accounts take turns, then that of all. So what
 * waits for a receiver holds places of its own account only.
 */
export class DeliveryGates {
  readonly #accounts = new GatesByKey<string>(OF_ACCOUNT)
  readonly #hosts = new GatesByKey<Client>(TO_HOST)
  readonly #all = new Gate(ALL)
  readonly #pace = new RateLimit(PACE)

  /**
   * Runs a delivery in the turn of its account.
   * @param host of the receiver, with its port
   * @throws the reason of `signal` if it aborts during the wait
   */
  async run<T>(account: Client, host: string, signal: AbortSignal, deliver: () => Promise<T>): Promise<T> {
    const pair = `${account} ${host}`
    for (let wait = this.#pace.waitOf(pair); wait > 0; wait = this.#pace.waitOf(pair)) {
      await sleep(wait, undefined, { signal })
    }
    this.#pace.count(pair)
    const toHost = () => this.toHost(account, host, signal, deliver)
    return this.#accounts.run(account, host, toHost, signal)
  }

  /** Runs a delivery that has passed another gate of accounts. */
  toHost<T>(account: Client, host: string, signal: AbortSignal, deliver: () => Promise<T>): Promise<T> {
    const inTurn = () => this.#all.run(account, deliver, signal)
    return this.#hosts.run(host, account, inTurn, signal)
  }
}

/** A gate for each key, as long as it has tasks. */
class GatesByKey<Name extends string> {
  readonly #options: GateOptions
  readonly #open = new Map<string, Gate<Name>>()

  constructor(options: GateOptions) {
    this.#options = options
  }

  async run<T>(key: string, client: Name, task: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const gate = this.#open.get(key) ?? new Gate<Name>(this.#options)
    this.#open.set(key, gate)
    try {
      return await gate.run(client, task, signal)
    } finally {
      if (gate.running + gate.waiting === 0) this.#open.delete(key)
    }
  }
}
