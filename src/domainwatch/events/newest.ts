import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChangeLog } from '../../storage/database/changes/change-log.ts'
import type { Filters } from '../filters.ts'
import { eventOf, touches, type AccountName, type DomainEvent } from './event.ts'

/** Changes that are looked through for those that match, from the newest on. */
const MAX_LOOKED_THROUGH = 50_000

/** The newest events that concern these filters, the newest first. */
export async function newestEvents(
  feed: ChangeLog,
  nameOf: AccountName,
  request: { readonly filters: Filters; readonly limit: number },
): Promise<DomainEvent[]> {
  const found: DomainEvent[] = []
  for await (const changes of feed.newest(MAX_LOOKED_THROUGH)) {
    for (const change of changes) {
      const event = await eventOf(change, nameOf)
      if (event === undefined || !touches(request.filters, event)) continue
      found.push(event)
      if (found.length === request.limit) return found
    }
    await nextTurn()
  }
  return found
}
