import { repeatUntilAborted } from '../../lib/background-jobs.ts'
import { InterruptibleSleep } from '../../lib/clock.ts'
import { askRecipient } from './ask-recipient.ts'
import { notifyDestination, notifyReplays, type DestinationContext } from './destination-notifier.ts'
import * as queries from './queries.ts'
import { destinationsToReplay } from './queries-deliveries.ts'
import { destinationById, destinationsToNotify } from './queries-destinations.ts'
import { entryOf, gapEntry, type AtomEntry } from '../events/atom.ts'
import { languageOf } from '../texts.ts'
import { nextNotification, writeOne, type NotifierContext } from './notification.ts'
import { readWatch } from './watch-filters.ts'

/** How often to look for watches that another process created, deleted or revived. */
const POLL_MS = 1_000
/** Reads all watches at most this often, however often members edit theirs. */
const MIN_POLL_MS = 50

interface Work {
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

/**
 * Notifies of the changes that all watches look for. Runs on one node only (leased). Each destination and each Atom feed has a
 * notifier, independent of all others.
 */
export class Notifiers {
  /** Wake it when this process has created, edited, deleted or revived a watch, or asked for a replay. */
  readonly wakeup = new InterruptibleSleep()
  readonly #context: DestinationContext

  constructor(context: DestinationContext) {
    this.#context = context
  }

  async hasWatches(): Promise<boolean> {
    return (await this.#context.database.first(queries.anyWatch())) !== undefined
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
    const { clock, database } = this.#context
    const now = clock.now()
    const work = new Map<string, Work>()
    for (const destination of await database.all(destinationsToNotify(now))) {
      const { id, version, resumes, confirmed, asked, address } = destination
      if (confirmed === 1) {
        const notify = (signal: AbortSignal) => this.#destination(id, notifyDestination, signal)
        work.set(`destination ${id}`, { version: `${version} ${resumes}`, notify })
      } else if (asked === 0) {
        const notify = (signal: AbortSignal) => askRecipient(this.#context, destination, signal)
        work.set(`recipient ${address.toLowerCase()}`, { version: '', notify })
      }
    }
    for (const { id, version } of await database.all(destinationsToReplay(now))) {
      const notify = (signal: AbortSignal) => this.#destination(id, notifyReplays, signal)
      work.set(`replays ${id}`, { version: String(version), notify })
    }
    for (const { id, version } of await database.all(queries.atomFeedsToNotify(now)))
      work.set(`feed ${id}`, { version: String(version), notify: (signal) => this.#atomFeed(id, signal) })
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

  async #destination(id: string, notify: typeof notifyDestination, signal: AbortSignal): Promise<void> {
    const row = await this.#context.database.first(destinationById(id))
    if (row !== undefined) await notify(this.#context, row, signal)
  }

  async #atomFeed(id: string, signal: AbortSignal): Promise<void> {
    const row = await this.#context.database.first(queries.atomFeedById(id))
    if (row !== undefined) await notifyAtomFeed(this.#context, row, signal)
  }
}

/** Entries that an Atom feed keeps. */
const MAX_ENTRIES = 50
const WINDOW_MS = 200

/** Maintains the Atom feed of one watch until `signal` aborts or the watch is edited, paused or deleted. */
async function notifyAtomFeed(
  { database, pages, clock, vocabulary }: NotifierContext,
  row: queries.AtomFeedState,
  signal: AbortSignal,
): Promise<void> {
  const { isRelevant, findBrand } = readWatch(row, vocabulary)
  const request = {
    account: row.account_id,
    isRelevant,
    max: MAX_ENTRIES,
    beyond: 'oldest',
    windowMs: WINDOW_MS,
  } as const
  const language = languageOf(row.language)
  let entries: readonly AtomEntry[] = entriesOf(row.feed)
  let cursor = row.feed_cursor ?? (await pages.head())
  while (!signal.aborted) {
    const found = await nextNotification(pages, cursor, request, signal)
    if (found === undefined) return
    if (found.cursor === cursor) continue
    const added = found.isGap
      ? [gapEntry(`${row.id} ${found.cursor}`, clock.now(), language)]
      : found.events.map((event) => entryOf(event, language, findBrand)).reverse()
    entries = [...added, ...entries].slice(0, MAX_ENTRIES)
    cursor = found.cursor
    const stored = queries.storeAtomFeed(row.id, row.version, JSON.stringify(entries), cursor)
    if (!(await writeOne(database, stored, row.account_id))) return
  }
}

/** Parses the stored entries of an Atom feed. */
export function entriesOf(feed: string | null): readonly AtomEntry[] {
  const entries: readonly AtomEntry[] = JSON.parse(feed ?? '[]')
  return entries
}
