import { repeatUntilAborted } from '../lib/concurrency.ts'
import { InterruptibleSleep } from '../lib/clock.ts'
import { notifyDestination, notifyReplays, type DestinationContext } from './destination-notifier.ts'
import {
  destinationsToReplay,
  anyWatch,
  type WatchService,
  destinationById,
  destinationsToNotify,
  type DestinationToNotify,
} from './queries.ts'
import type { LoggedEvent, Transport } from './transport.ts'

/** How often to look for watches that another process created, deleted or revived. */
const POLL_MS = 1_000
/** Reads all watches at most this often, however often members edit theirs. */
const MIN_POLL_MS = 50

export interface Work {
  /** Changes when the notifier has to restart, because a watch was edited. */
  readonly version: string
  /** Notifies one destination or Atom feed until the signal aborts. */
  readonly notify: (signal: AbortSignal) => Promise<void>
}

interface RunningWork {
  readonly version: string
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export interface NotifiersContext<
  E extends LoggedEvent,
  T extends Transport = Transport,
> extends DestinationContext<E, T> {
  readonly service: WatchService
  /** Returns further work, by name. @param unconfirmed destinations whose readers have not allowed messages */
  readonly otherWork?: (
    unconfirmed: readonly DestinationToNotify[],
    now: number,
  ) => Promise<readonly (readonly [name: string, work: Work])[]>
}

/**
 * Notifies of the changes that all watches of a service look for. Runs on one node only (leased). Each destination has a notifier,
 * independent of all others.
 */
export class Notifiers<E extends LoggedEvent, T extends Transport = Transport> {
  /** Wake it when this process has created, edited, deleted or revived a watch, or asked for a replay. */
  readonly wakeup = new InterruptibleSleep()
  readonly #context: NotifiersContext<E, T>

  constructor(context: NotifiersContext<E, T>) {
    this.#context = context
  }

  async hasWork(): Promise<boolean> {
    return (await this.#context.database.first(anyWatch(this.#context.service))) !== undefined
  }

  /** Runs until `signal` aborts, then waits for deliveries in progress, which have a deadline. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Map<string, RunningWork>()
    // After a failure, what runs continues: started again next to it, a notifier would repeat a delivery in progress.
    const poll = async () => {
      await this.#update(running, signal)
      await this.wakeup.sleep(POLL_MS - MIN_POLL_MS, signal)
      await new InterruptibleSleep().sleep(MIN_POLL_MS, signal)
    }
    await repeatUntilAborted(poll, signal, this.#context.failed)
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  /** Starts the notifiers that are missing, and stops those whose watch was edited, paused or deleted. */
  async #update(running: Map<string, RunningWork>, signal: AbortSignal): Promise<void> {
    const wanted = await this.#wanted()
    for (const [name, { version, notify }] of wanted) {
      if (running.has(name)) continue
      const stop = new AbortController()
      const ended = this.#run(notify, AbortSignal.any([signal, stop.signal])).finally(() => {
        running.delete(name)
        // Restarts notifiers of edited watches.
        if (stop.signal.aborted) this.wakeup.wakeAll()
      })
      running.set(name, { version, stop, ended })
    }
    for (const [name, { version, stop }] of running) if (wanted.get(name)?.version !== version) stop.abort()
  }

  async #wanted(): Promise<Map<string, Work>> {
    const { clock, database, otherWork, service } = this.#context
    const now = clock.now()
    const destinations = await database.all(destinationsToNotify(service, now))
    const [confirmed, unconfirmed] = [1, 0].map((wanted) =>
      destinations.filter((one) => one.confirmed === wanted),
    )
    const work = new Map(await otherWork?.(unconfirmed ?? [], now))
    for (const { id, version, resumes } of confirmed ?? []) {
      const notify = (signal: AbortSignal) => this.#destination(id, notifyDestination, signal)
      work.set(`destination ${id}`, { version: `${version} ${resumes}`, notify })
    }
    for (const { id, version } of await database.all(destinationsToReplay(service, now))) {
      const notify = (signal: AbortSignal) => this.#destination(id, notifyReplays, signal)
      work.set(`replays ${id}`, { version: String(version), notify })
    }
    return work
  }

  /** Never rejects. A notifier that fails is started again after at most `POLL_MS`. */
  async #run(notify: Work['notify'], signal: AbortSignal): Promise<void> {
    try {
      await notify(signal)
    } catch (error) {
      if (!signal.aborted) this.#context.failed(error)
    }
  }

  async #destination(id: string, notify: typeof notifyDestination<E, T>, signal: AbortSignal): Promise<void> {
    const row = await this.#context.database.first(destinationById(id))
    if (row !== undefined) await notify(this.#context, row, signal)
  }
}
