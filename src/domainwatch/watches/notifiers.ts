import { InterruptibleSleep } from '../../lib/interruptible-sleep.ts'
import { entryOf, type AtomEntry } from '../events/atom.ts'
import { nextNotification, writeOne, type NotifierContext } from './notification.ts'
import * as queries from './queries.ts'
import type { WatchState } from './queries.ts'
import { watcherOf } from './watched.ts'
import { notifyByWebhook, type WebhookContext } from './webhook-notifier.ts'

/** How often to look for watches that another process created, deleted or revived. */
const POLL_MS = 1_000
/** Entries that a feed keeps. */
const MAX_ENTRIES = 50

/**
 * Notifies of the changes that all watches look for. Runs on one node only (leased). Each watch has one notifier for its
 * webhook and one for its feed, independent of all others.
 */
export class Notifiers {
  /** Wake it when this process has created, deleted or revived a watch. */
  readonly wakeup = new InterruptibleSleep()
  readonly #context: WebhookContext
  readonly #failed: (error: unknown) => void

  /** @param failed called when a notifier throws; it is restarted after at most `POLL_MS` */
  constructor(context: WebhookContext, failed: (error: unknown) => void) {
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
      const { clock, database } = this.#context
      const watches = await database.all(queries.watchesToNotify(clock.now()))
      const wanted = new Map<string, string>(
        watches.flatMap(({ id, webhook, feed }) => [
          ...(webhook === 1 ? [[`webhook ${id}`, id] as const] : []),
          ...(feed === 1 ? [[`feed ${id}`, id] as const] : []),
        ]),
      )
      for (const [name, id] of wanted) {
        if (running.has(name)) continue
        const stop = new AbortController()
        const ended = this.#notify(name, id, AbortSignal.any([signal, stop.signal])).finally(() =>
          running.delete(name),
        )
        running.set(name, { stop, ended })
      }
      for (const [name, { stop }] of running) if (!wanted.has(name)) stop.abort()
      await this.wakeup.sleep(POLL_MS, signal)
    }
    await Promise.all([...running.values()].map(({ ended }) => ended))
  }

  async #notify(name: string, id: string, signal: AbortSignal): Promise<void> {
    try {
      const row = await this.#context.database.first(queries.watchById(id))
      if (row === undefined) return
      await (name.startsWith('feed') ? notifyByFeed : notifyByWebhook)(this.#context, row, signal)
    } catch (error) {
      if (!signal.aborted) this.#failed(error)
    } finally {
      if (name.startsWith('webhook')) this.#context.slots.forget(id)
    }
  }
}

/** Maintains the feed of one watch until `signal` aborts or the watch is deleted. */
async function notifyByFeed(
  { database, pages, clock, vocabulary }: NotifierContext,
  row: WatchState,
  signal: AbortSignal,
): Promise<void> {
  const request = { isRelevant: watcherOf(row, vocabulary), max: MAX_ENTRIES, keep: 'last' } as const
  let entries: readonly AtomEntry[] = entriesOf(row.feed)
  let cursor = row.feed_cursor ?? (await pages.head())
  while (!signal.aborted) {
    const found = await nextNotification(pages, cursor, request, signal)
    if (found === undefined) return
    if (found.cursor === cursor) continue
    const added = found.isGap
      ? [gapEntry(row.id, found.cursor, clock.now())]
      : found.events.map(entryOf).reverse()
    entries = [...added, ...entries].slice(0, MAX_ENTRIES)
    cursor = found.cursor
    if (!(await writeOne(database, queries.storeFeed(row.id, JSON.stringify(entries), cursor)))) return
  }
}

/** Parses the stored entries of a feed. */
export function entriesOf(feed: string | null): readonly AtomEntry[] {
  const entries: readonly AtomEntry[] = JSON.parse(feed ?? '[]')
  return entries
}

function gapEntry(id: string, cursor: string, now: number): AtomEntry {
  return {
    id: `${id} ${cursor}`,
    title: 'Pueden faltar cambios anteriores',
    updated: new Date(now).toISOString(),
    author: 'Catalejo',
    text: 'Hubo cambios que ya no están disponibles: vuelva a leer la lista.',
  }
}
