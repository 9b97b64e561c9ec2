import { setTimeout as sleep } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import { addAbortListener } from 'node:events'
import { integer, nullable, string } from '../http/openapi/json-schema.ts'
import { type Client, accountClient } from '../lib/client.ts'
import { Gate, type GateOptions } from '../lib/gate.ts'
import { RateLimit } from '../lib/rate-limit.ts'
import type { Clock } from '../lib/clock.ts'
import type { Delivery, HeldDelivery, Transport, Outcome } from './transport.ts'
import type { DestinationState } from './queries.ts'
import { secretsAt, type Secrets } from './webhook.ts'
import type { Transaction } from '../storage/database/database.ts'
import * as queries from './queries.ts'

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
 * its account, where its receivers take turns, then that of its receiver, where accounts take turns, then that of all. A delivery
 * that waits for its receiver therefore counts only towards the limit of its account.
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

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
/** Delay after each failed attempt, three days in total: the schedule of Standard Webhooks. */
const DELAYS: readonly number[] = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** Maximum extension of a delay, so that deliveries that failed together are not retried together. */
const JITTER = 0.2
/** How long a delivery may continue during shutdown. It is sent again if it does not finish. */
const STOP_MS = 4_000

/**
 * Returns the delay in milliseconds after the given number of failed attempts, or undefined if there is no further attempt.
 * @param random from 0 to 1
 */
export function delayAfter(attempts: number, random: number): number | undefined {
  const delay = DELAYS[attempts - 1]
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * random))
}

/** Generates an id that all attempts share. It contains no full stop, which separates the parts that webhooks sign. */
export function newDeliveryId(): string {
  return `msg_${randomBytes(15).toString('base64url')}`
}

/** Why an attempt is made: `confirmation` asks the reader of an address to confirm it, `test` has passed the gate of tests. */
export type Purpose = 'delivery' | 'confirmation' | 'test'

export interface AttemptContext<T extends Transport = Transport> {
  readonly clock: Clock
  readonly gates: DeliveryGates
  /** Returns until when a message has to wait, and why; undefined if it may be sent. */
  readonly hold?: (
    transport: T,
    target: Pick<DestinationState, 'account_id' | 'address'>,
    purpose: Purpose,
  ) => Promise<HeldDelivery | undefined>
}

/**
 * Makes one attempt of a delivery when its turn comes. It may continue for a moment after `signal` aborts.
 * @returns undefined if it was aborted, so it may have arrived: it is sent again with the same id
 */
export async function attempt<T extends Transport>(
  { clock, gates, hold }: AttemptContext<T>,
  transport: T,
  target: Pick<DestinationState, 'account_id' | 'address'> & Partial<Secrets>,
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  signal: AbortSignal,
  purpose: Purpose = 'delivery',
) {
  const { address, account_id: account } = target
  const send = async () => {
    const begin = performance.now()
    const held = await hold?.(transport, target, purpose)
    if (held !== undefined) return { outcome: held, ms: 0 }
    const over = new AbortController()
    let timer: NodeJS.Timeout | undefined
    // Removed in the end, because `signal` outlives thousands of attempts.
    using _listener = addAbortListener(signal, () => {
      timer = setTimeout(() => over.abort(), STOP_MS).unref()
    })
    try {
      const secrets = secretsAt(clock.now(), target)
      const outcome = await transport.send({ id, body, address, secrets }, over.signal)
      return { outcome, ms: performance.now() - begin }
    } finally {
      clearTimeout(timer)
    }
  }
  const [client, host] = [accountClient(account), transport.hostOf(address)]
  const measured =
    purpose === 'test'
      ? await gates.toHost(client, host, signal, send)
      : await gates.run(client, host, signal, send)
  return measured.outcome.kind === 'failed' && signal.aborted ? undefined : measured
}

/** How long deliveries are listed. */
export const DELIVERIES_DAYS = 30
export const KEEP_MS = DELIVERIES_DAYS * 24 * 60 * 60 * 1000
/** Deliveries that a watch keeps, the newest. */
export const MAX_DELIVERIES = 1_000
/** The content of this many deliveries is kept, so that they can be sent again: about 2 MB. */
export const MAX_KEPT_BODIES = 100

/** Records a delivery before its first attempt, and drops what a watch may no longer keep. */
export async function logDelivery(tx: Transaction, delivery: queries.LoggedDelivery): Promise<void> {
  const { watchId, number } = delivery
  await tx.run(queries.insertDelivery(delivery))
  await tx.run(queries.deleteUpTo(watchId, number - MAX_DELIVERIES))
  await tx.run(queries.dropBody(watchId, number - MAX_KEPT_BODIES))
}

/** @param state of the delivery after this attempt */
export function toAttempt(outcome: Outcome, state: queries.DeliveryState, ms: number): queries.Attempt {
  const error = outcome.kind === 'delivered' ? null : outcome.error
  return { state, code: outcome.code, ms: Math.round(ms), error }
}

/** The state of deliveries to one destination. */
export const deliveryStateFields = {
  state: string({
    enum: ['active', 'dead'],
    description: '`active`: changes are delivered. `dead`: deliveries were abandoned',
  }),
  pending: integer({ minimum: 0, maximum: 1, description: 'Whether a delivery is in progress' }),
  attempts: integer('Failed attempts of the delivery in progress'),
  next_attempt: nullable(string('Time of the next attempt')),
  last_delivery: nullable(string('Time of the last successful delivery')),
  last_error: nullable(string('Last error since the last successful delivery')),
  last_error_at: nullable(string('Time of the last error')),
}

export const DELIVERY_STATE_EXAMPLE = {
  state: 'active',
  pending: 0,
  attempts: 0,
  next_attempt: null,
  last_delivery: '2026-01-06T09:00:01.250Z',
  last_error: null,
  last_error_at: null,
}

type DeliveryState = Pick<
  queries.DestinationRow,
  'state' | 'attempts' | 'next_at' | 'delivered_at' | 'last_error' | 'last_error_at' | 'delivery_id'
>

export const toDeliveryState = (row: DeliveryState) => ({
  state: row.state,
  pending: row.delivery_id === null ? 0 : 1,
  attempts: row.attempts,
  next_attempt: isRetried(row) ? iso(row.next_at) : null,
  last_delivery: isoOrNull(row.delivered_at),
  last_error: row.last_error,
  last_error_at: isoOrNull(row.last_error_at),
})

/** Without a pending delivery, `next_at` is the time of a digest. */
export const isRetried = ({ state, next_at, delivery_id }: DeliveryState): boolean =>
  state === 'active' && next_at > 0 && delivery_id !== null

export const iso = (time: number) => new Date(time).toISOString()
export const isoOrNull = (time: number | null | undefined) => (typeof time === 'number' ? iso(time) : null)
