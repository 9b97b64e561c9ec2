import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import { notifyDestination, type DestinationContext } from './destination-notifier.ts'
import { notifyFeed } from './feed-notifier.ts'
import * as queries from './queries.ts'
import { destinationById, destinationsToNotify } from './queries-destinations.ts'

/** How often to look for watches that another process created, deleted or revived. */
const POLL_MS = 1_000

/** Notifies one destination or feed until the signal aborts. */
type Notify = (signal: AbortSignal) => Promise<void>

/**
 * Notifies of the changes that all watches look for. Runs on one node only (leased). Each destination and each feed has a
 * notifier, independent of all others.
 */
export class Notifiers {
  /** Wake it when this process has created, deleted or revived a watch. */
  readonly wakeup = new InterruptibleSleep()
  readonly #context: DestinationContext
  readonly #failed: (error: unknown) => void

  /** @param failed called when a notifier throws; it is restarted after at most `POLL_MS` */
  constructor(context: DestinationContext, failed: (error: unknown) => void) {
    this.#context = context
    this.#failed = failed
  }

  async hasWatches(): Promise<boolean> {
    return (await this.#context.database.first(queries.anyWatch())) !== undefined
  }

  /** Runs until `signal` aborts, then waits for deliveries in progress, which have a deadline. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()
    while (!signal.aborted) {
      const wanted = await this.#wanted()
      for (const [name, notify] of wanted) {
        if (running.has(name)) continue
        const stop = new AbortController()
        const ended = this.#run(notify, AbortSignal.any([signal, stop.signal])).finally(() =>
          running.delete(name),
        )
        running.set(name, { stop, ended })
      }
      for (const [name, { stop }] of running) if (!wanted.has(name)) stop.abort()
      await this.wakeup.sleep(POLL_MS, signal)
    }
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  async #wanted(): Promise<Map<string, Notify>> {
    const { clock, database } = this.#context
    const destinations = await database.all(destinationsToNotify(clock.now()))
    const feeds = await database.all(queries.feedsToNotify(clock.now()))
    return new Map<string, Notify>([
      ...destinations.map(
        ({ id }) => [`destination ${id}`, (signal: AbortSignal) => this.#destination(id, signal)] as const,
      ),
      ...feeds.map(({ id }) => [`feed ${id}`, (signal: AbortSignal) => this.#feed(id, signal)] as const),
    ])
  }

  async #run(notify: Notify, signal: AbortSignal): Promise<void> {
    try {
      await notify(signal)
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    }
  }

  async #destination(id: string, signal: AbortSignal): Promise<void> {
    const row = await this.#context.database.first(destinationById(id))
    try {
      if (row !== undefined) await notifyDestination(this.#context, row, signal)
    } finally {
      this.#context.slots.forget(id)
    }
  }

  async #feed(id: string, signal: AbortSignal): Promise<void> {
    const row = await this.#context.database.first(queries.feedById(id))
    if (row !== undefined) await notifyFeed(this.#context, row, signal)
  }
}
