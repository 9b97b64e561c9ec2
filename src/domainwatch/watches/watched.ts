import { parseParameters, type Values } from '../../http/parameters.ts'
import { enters, touches, type DomainEvent } from '../events/event.ts'
import { filterParameters, listRequest } from '../filters.ts'

const { last_register: _registered, last_deleted: _deleted, sort: _sort, ...recordFilters } = filterParameters

/** The filters that look at a record by itself. */
export const eventFilters = recordFilters

/** `new`: what comes to match. `all`: whatever happens to a record that matches, or did. */
export const CHANGES = ['new', 'all'] as const
export type Changes = (typeof CHANGES)[number]

/** Filters as they are kept: as text, as if they were given again. */
export type SavedFilters = Readonly<Record<string, string>>

/** Filters for good: those that were given. */
export function toSave(values: Values<typeof eventFilters>): SavedFilters {
  const saved: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (value === true) saved[name] = ''
    else if (value !== undefined && value !== false) saved[name] = String(value)
  }
  return saved
}

/** Tells which events a watch is about. */
export function watcherOf(filters: string, changes: string): (event: DomainEvent) => boolean {
  const parsed = parseParameters(eventFilters, savedOf(filters))
  // What an older version took and this one does not: better nothing than everything.
  if (!parsed.ok) return () => false
  const asked = listRequest({
    ...parsed.values,
    last_register: undefined,
    last_deleted: undefined,
    sort: undefined,
  })
  const isAbout = changes === 'new' ? enters : touches
  return (event) => isAbout(asked.filters, event)
}

export function savedOf(filters: string): SavedFilters {
  const saved: SavedFilters = JSON.parse(filters)
  return saved
}
