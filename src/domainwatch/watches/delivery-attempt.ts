import { randomBytes } from 'node:crypto'
import { addAbortListener } from 'node:events'
import type { Clock } from '../../lib/clock.ts'
import type { Channel, Delivery, Outcome } from './channels/channel.ts'
import type { MailRecipients } from './mail-recipients.ts'
import type { DestinationState } from './queries-destinations.ts'
import { secretsAt, type Secrets } from './channels/webhook.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { FairSlots, groupBefore } from '../../lib/fair-slots.ts'
import { RateLimit } from '../../lib/rate-limit.ts'

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

interface AttemptContext {
  readonly clock: Clock
  readonly slots: DeliverySlots
  readonly recipients: Pick<MailRecipients, 'admit'>
}

type Target = Pick<DestinationState, 'id' | 'account_id' | 'address'> & Partial<Secrets>

interface AttemptOptions {
  /** Whether the last attempt failed. */
  readonly hasFailed?: boolean
  /** Whether it asks the reader of an address to confirm it. */
  readonly isConfirmation?: boolean
}

/**
 * Makes one attempt of a delivery when its turn comes. It may continue for a moment after `signal` aborts.
 * @returns undefined if it was aborted, so it may have arrived: it is sent again with the same id
 */
export async function attempt(
  { clock, slots, recipients }: AttemptContext,
  channel: Channel,
  target: Target,
  { id, body }: Pick<Delivery, 'id' | 'body'>,
  signal: AbortSignal,
  { hasFailed = false, isConfirmation = false }: AttemptOptions = {},
) {
  const { address, account_id: account } = target
  const owner = { destination: target.id, account: String(account), host: channel.hostOf(address) }
  const measured = await slots.run(owner, hasFailed, signal, async () => {
    const begin = performance.now()
    const held = await hold(channel, recipients, target, isConfirmation)
    if (held !== undefined) return { outcome: held, ms: 0 }
    const delivery = { id, body, address, secrets: secretsAt(clock.now(), target) }
    const over = new AbortController()
    let timer: NodeJS.Timeout | undefined
    // Removed in the end, because `signal` outlives thousands of attempts.
    using _listener = addAbortListener(signal, () => {
      timer = setTimeout(() => over.abort(), STOP_MS).unref()
    })
    try {
      const outcome = await channel.send(delivery, over.signal)
      return { outcome, ms: performance.now() - begin }
    } finally {
      clearTimeout(timer)
    }
  })
  return measured.outcome.kind === 'failed' && signal.aborted ? undefined : measured
}

/** Returns until when a delivery has to wait because of its receiver. */
export async function hold(
  channel: Channel,
  recipients: Pick<MailRecipients, 'admit'>,
  { account_id: account, address }: Pick<Target, 'account_id' | 'address'>,
  isConfirmation = false,
): Promise<Outcome | undefined> {
  return channel.renderConfirmation === undefined
    ? undefined
    : recipients.admit(account, address, isConfirmation)
}

/** Concurrent deliveries, in total, per account, and to one receiver (host and port). An idle socket costs little. */
const QUICK = { slots: 256, slotsPerAccount: 16, slotsPerHost: 8 }
/** The same for receivers whose last delivery was slow or failed. */
const SLOW = { slots: 128, slotsPerAccount: 8, slotsPerHost: 8 }
/** Deliveries of one account to one receiver. */
const PER_ACCOUNT_AND_HOST = 4
/** Each destination has at most one delivery, so a queue is no longer than the number of destinations. */
const QUEUE = { maxWaiting: 1_000_000, maxWaitingPerClient: 1_000, timeoutMs: 60 * 60 * 1000 }
/** Requests from one account to one host. Changes that arrive during the wait are delivered together. */
const PACE = { burst: 20, perSecond: 10, maxClients: 10_000 }
/** A delivery that takes longer marks its destination as slow for the next one. */
const SLOW_MS = 2_000

/** Slots that every client has for itself. */
const sharesOf = (slotsPerClient: number) => new FairSlots({ ...QUEUE, slots: Infinity, slotsPerClient })

/** Slots of quick or of slow receivers. */
class Pool {
  readonly #accounts: FairSlots
  readonly #hosts: FairSlots
  readonly #all: FairSlots

  constructor({ slots, slotsPerAccount, slotsPerHost }: typeof QUICK) {
    const ofHost = { slotsPerClient: PER_ACCOUNT_AND_HOST, slotsPerGroup: slotsPerHost }
    this.#accounts = sharesOf(slotsPerAccount)
    this.#hosts = new FairSlots({ ...QUEUE, ...ofHost, slots: Infinity, groupOf: groupBefore })
    this.#all = new FairSlots({ ...QUEUE, slots, slotsPerClient: slotsPerAccount })
  }

  run<T>(host: string, account: string, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    // Slots that others need come last, because what waits for the next kind holds those before. The last ones are shared by
    // accounts, because a receiver can have any number of host names.
    const run = () => this.#all.run(account, task, signal)
    return this.#accounts.run(account, () => this.#hosts.run(`${host} ${account}`, run, signal), signal)
  }
}

/**
 * Limits concurrent deliveries so that no account and no receiver delays the deliveries of another: each account and each
 * host has a share of the slots, accounts take turns at each host, and slow receivers use a separate pool.
 */
export class DeliverySlots {
  readonly #quick = new Pool(QUICK)
  readonly #slow = new Pool(SLOW)
  readonly #shares = sharesOf(PER_ACCOUNT_AND_HOST)
  readonly #pace = new RateLimit(PACE)
  readonly #slowDestinations = new Set<string>()

  /**
   * @param host of the receiver, with its port
   * @param hasFailed whether the last attempt failed
   * @throws the reason of `signal`, or an AbortError, if it aborts during the wait
   */
  async run<T>(
    { destination, account, host }: Readonly<Record<'destination' | 'account' | 'host', string>>,
    hasFailed: boolean,
    signal: AbortSignal,
    deliver: () => Promise<T>,
  ): Promise<T> {
    const client = `${account} ${host}`
    await this.#paced(client, signal)
    const pool = hasFailed || this.#slowDestinations.has(destination) ? this.#slow : this.#quick
    const send = () => this.#timed(destination, deliver)
    return this.#shares.run(client, () => pool.run(host, account, signal, send), signal)
  }

  /** Drops what is known about a destination. */
  forget(destination: string): void {
    this.#slowDestinations.delete(destination)
  }

  async #paced(client: string, signal: AbortSignal): Promise<void> {
    for (let wait = this.#pace.waitOf(client); wait > 0; wait = this.#pace.waitOf(client)) {
      await sleep(wait, undefined, { signal })
    }
    this.#pace.count(client)
  }

  async #timed<T>(destination: string, deliver: () => Promise<T>): Promise<T> {
    const begin = performance.now()
    try {
      return await deliver()
    } finally {
      if (performance.now() - begin > SLOW_MS) this.#slowDestinations.add(destination)
      else this.#slowDestinations.delete(destination)
    }
  }
}
