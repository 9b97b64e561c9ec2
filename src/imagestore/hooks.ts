import { ChangePages, eventsAfter, type EventPage } from '../deliveries/change-pages.ts'
import type { LoggedEvent, Notice, Transport } from '../deliveries/transport.ts'
import type { Change } from '../storage/database/changes/change.ts'
import type { DeliveryGates } from '../deliveries/delivery-attempt.ts'
import { Notifiers } from '../deliveries/notifiers.ts'
import { insertDestination, type DestinationState, countWatches, insertWatch } from '../deliveries/queries.ts'
import { newSecret } from '../deliveries/webhook.ts'
import type { Clock } from '../lib/clock.ts'
import { type Database, randomId } from '../storage/database/database.ts'
import { lockAccount } from '../storage/database/dialect.ts'
import { badParameter } from '../http/errors.ts'
import { imageErrors } from './errors.ts'
import * as queries from './queries-settings.ts'

/** What applications can be notified of. */
export const HOOK_EVENTS = [
  'image.created',
  'image.updated',
  'image.deleted',
  'image.expired',
  'alias.changed',
] as const
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** A change of an image or an alias of an application. */
export interface ImageEvent extends LoggedEvent {
  readonly account: number
  readonly type: HookEvent
  /** What receivers get of it. */
  readonly data: Readonly<Record<string, string | number | null>>
}

const GAP = 'Pueden faltar cambios anteriores: vuelva a leer la lista de imágenes'

/** Returns undefined for a change of anything else. */
function toImageEvent(change: Change): ImageEvent | undefined {
  const { cursor, at, topic, kind, key, accountId: account, before, after } = change
  if (account === null) return undefined
  const event = { cursor, at, account }
  if (topic === 'alias') {
    const data = { alias: key, hash: after?.['hash'] ?? null, previous: before?.['hash'] ?? null }
    return { ...event, type: 'alias.changed', data }
  }
  const type = topic === 'image' ? toType(kind, before !== null) : undefined
  const { name = null, date = null } = after ?? before ?? {}
  return type && { ...event, type, data: { hash: key, name, date } }
}

/** Returns undefined for a kind that a newer version writes. */
function toType(kind: string, existed: boolean): HookEvent | undefined {
  switch (kind) {
    case 'stored':
      return existed ? 'image.updated' : 'image.created'
    case 'deleted':
    case 'expired':
      return `image.${kind}`
    default:
      return undefined
  }
}

/** Returns the body of a delivery. Its events are of one type. */
function payload(hook: string, notice: Notice<ImageEvent>): string {
  if (notice.kind !== 'changes') {
    const timestamp = new Date(notice.at).toISOString()
    return JSON.stringify({ type: 'images.gap', timestamp, data: { hook: { id: hook }, msg: GAP } })
  }
  const { events } = notice
  const changes = events.map(({ at, data }) => ({ at: new Date(at).toISOString(), ...data }))
  return JSON.stringify({
    type: events[0]?.type,
    timestamp: changes.at(-1)?.at,
    data: { hook: { id: hook }, count: changes.length, changes },
  })
}

export const MAX_HOOKS = 20

export interface HooksOptions {
  readonly database: Database
  readonly clock: Clock
  readonly gates: DeliveryGates
  readonly webhooks: Transport
  /** Called when a notifier or a read of changes fails. It is retried. */
  readonly failed: (error: unknown) => void
}

/** Webhooks about images: watches of applications, which follow the changes of their images and aliases. */
export class Hooks {
  readonly notifiers: Notifiers<ImageEvent>
  readonly #options: HooksOptions
  readonly #pages: ChangePages<EventPage<ImageEvent>>

  constructor(options: HooksOptions) {
    this.#options = options
    const { database, failed, webhooks: transport } = options
    this.#pages = new ChangePages<EventPage<ImageEvent>>(
      database.changes,
      {
        toPage: (after, cursor, changes) => ({
          after,
          cursor,
          events: changes.map(toImageEvent).filter((event) => event !== undefined),
        }),
        withoutRead: (page, after) => ({ ...page, after, events: eventsAfter(page.events, after) }),
      },
      failed,
    )
    this.notifiers = new Notifiers({
      ...options,
      service: 'imagestore',
      pages: this.#pages,
      // Hooks have no digests.
      timeZone: 'UTC',
      reportsTo: ({ account_id: account, filters, watch_id: id }: DestinationState) => {
        const events = toEvents(filters)
        return {
          transport,
          isRelevant: (event) => event.account === account && events.includes(event.type),
          isAlike: (first, event) => first.type === event.type,
          render: (notice) => payload(id, notice),
        }
      },
    })
  }

  /**
   * @param url receives the events from now on
   * @throws HttpError 400 for an address to which no webhook may be sent; 409 if the application has its maximum
   */
  async create(accountId: number, url: string, events: readonly HookEvent[]) {
    const { clock, database, webhooks } = this.#options
    const parsed = webhooks.parseAddress(url)
    if (parsed.ok !== true) throw badParameter('url', parsed.ok ? 'no se puede usar' : parsed.takes)
    const id = randomId()
    const secret = newSecret()
    const cursor = await this.#pages.head()
    await database.transaction(async (tx) => {
      // Concurrent requests of an application cannot exceed the limit together.
      await tx.first(lockAccount(database.dialect, accountId))
      const { count = 0 } = (await tx.first(countWatches(accountId))) ?? {}
      if (count >= MAX_HOOKS) throw imageErrors.too_many_hooks(MAX_HOOKS)
      const filters = JSON.stringify({ events })
      const watch = { id, account_id: accountId, name: '', filters, changes: 'all', language: 'es', secret }
      await tx.run(insertWatch(watch, clock.now()))
      const destination = {
        id,
        watchId: id,
        position: 0,
        channel: 'webhook',
        address: parsed.address,
        cursor,
      }
      await tx.run(insertDestination(destination))
    }, accountId)
    this.notifiers.wakeup.wakeAll()
    return { id, url: parsed.address, secret }
  }

  /** @returns false if the application has no such hook */
  async remove(accountId: number, id: string): Promise<boolean> {
    const { database } = this.#options
    const removed = await database.transaction((tx) => tx.run(queries.deleteHook(accountId, id)), accountId)
    this.notifiers.wakeup.wakeAll()
    return removed > 0
  }

  close(): void {
    this.#pages.close()
  }
}

/** Reads the events of a stored hook, without those of a newer version. */
export function toEvents(filters: string): readonly HookEvent[] {
  const { events }: { readonly events: readonly string[] } = JSON.parse(filters)
  return HOOK_EVENTS.filter((event) => events.includes(event))
}
