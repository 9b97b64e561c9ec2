import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import { tellByFeed } from './feed-teller.ts'
import * as queries from './queries.ts'
import { tellByWebhook, type Telling } from './webhook-teller.ts'

/** How soon a watch is noticed that was made, deleted or revived by another process. */
const LOOK_MS = 1_000

/**
 * Tells of what all watches watch, on one node of all. Each watch has a teller for its webhook and one for its feed, which
 * wait for nobody but their own receiver.
 */
export class Tellers {
  /** To be rung when this process has made, deleted or revived a watch. */
  readonly wakeup = new InterruptibleSleep()
  readonly #parts: Telling
  readonly #failed: (error: unknown) => void

  /** @param failed told of a teller that threw; it begins again at the next look */
  constructor(parts: Telling, failed: (error: unknown) => void) {
    this.#parts = parts
    this.#failed = failed
  }

  async hasWatches(): Promise<boolean> {
    return (await this.#parts.database.first(queries.anyWatch())) !== undefined
  }

  /** Until `signal` aborts; what is under way then has a moment to end. */
  async run(signal: AbortSignal): Promise<void> {
    const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()
    while (!signal.aborted) {
      const { clock, database } = this.#parts
      const watches = await database.all(queries.tellingWatches(clock.now()))
      const wanted = new Map<string, string>(
        watches.flatMap(({ id, webhook, feed }) => [
          ...(webhook === 1 ? [[`webhook ${id}`, id] as const] : []),
          ...(feed === 1 ? [[`feed ${id}`, id] as const] : []),
        ]),
      )
      for (const [name, id] of wanted) {
        if (running.has(name)) continue
        const stop = new AbortController()
        const ended = this.#tell(name, id, AbortSignal.any([signal, stop.signal])).finally(() =>
          running.delete(name),
        )
        running.set(name, { stop, ended })
      }
      for (const [name, { stop }] of running) if (!wanted.has(name)) stop.abort()
      await this.wakeup.sleep(LOOK_MS, signal)
    }
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  async #tell(name: string, id: string, signal: AbortSignal): Promise<void> {
    try {
      const row = await this.#parts.database.first(queries.watchById(id))
      if (row === undefined) return
      await (name.startsWith('feed') ? tellByFeed : tellByWebhook)(this.#parts, row, signal)
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    } finally {
      if (name.startsWith('webhook')) this.#parts.slots.forget(id)
    }
  }
}
