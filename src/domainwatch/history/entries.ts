import { localDateTime } from '../../lib/dates.ts'
import { changeOf, type Change, type Fields } from '../../storage/database/changes/change.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { DISCARDED_LIFETIME_MS } from '../limits.ts'
import { splitTags } from '../tags.ts'
import type { ObservationRow } from './queries.ts'

export const CHANGE_KINDS = ['added', 'changed', 'discarded', 'restored', 'deleted'] as const
type Kind = (typeof CHANGE_KINDS)[number]

/** Returns the change of a row of `changesOfDomain` as clients see it: with the fields that changed, or all of an added or deleted record. */
export function changeEntry(row: readonly SqlValue[], timeZone: string) {
  const change = changeOf(row, '')
  if (change === undefined) return undefined
  const [from, to] = [exportedFields(change.before), exportedFields(change.after)]
  const changed = Object.keys(from ?? to ?? {}).filter((name) => from?.[name] !== to?.[name])
  const only = (fields: Fields | null) =>
    fields && Object.fromEntries(changed.map((name) => [name, shown(name, fields[name] ?? null)]))
  return {
    date: localDateTime(effectiveTime(change), timeZone),
    // Null if unknown: the record expired, or was written outside the service.
    account: typeof row[8] === 'string' ? row[8] : null,
    kind: kindOf(change),
    from: only(from),
    to: only(to),
  }
}

/** Returns when the change took effect: a discarded record expires after its lifetime, even if it was purged later. */
function effectiveTime({ at, before, after }: Change): number {
  const discardedAt = before?.['discarded_at']
  return after === null && typeof discardedAt === 'number'
    ? Math.min(at, discardedAt + DISCARDED_LIFETIME_MS)
    : at
}

function kindOf({ before, after }: Change): Kind {
  if (before === null) return 'added'
  if (after === null) return 'deleted'
  const [was, is] = [before['discarded_at'] !== null, after['discarded_at'] !== null]
  return was === is ? 'changed' : is ? 'discarded' : 'restored'
}

const shown = (name: string, value: Fields[string]) =>
  name === 'tags' ? splitTags(value === null ? null : String(value)) : value

/** Returns a record's fields in the form of `export`; tags as stored. Who decided and when is in the entry itself. */
function exportedFields(fields: Fields | null): Fields | null {
  if (fields === null) return null
  const { discarded_at, released_at, date_reg, date_mod, seen_at, seen_by: _, note, tags, ...flags } = fields
  return {
    ...flags,
    discarded: discarded_at === null ? 0 : 1,
    date_reg: date_reg ?? null,
    date_mod: date_mod ?? null,
    deleted_at: flags['status'] === 0 ? (released_at ?? date_reg ?? null) : null,
    discarded_at: typeof discarded_at === 'number' ? new Date(discarded_at).toISOString() : null,
    seen: seen_at === null ? 0 : 1,
    note: note ?? '',
    tags: tags ?? null,
  }
}

/** A period in which the DNS gave the same answer for a name. */
export const nameServersEntry = ({ servers, ...period }: ObservationRow, timeZone: string) => ({
  status: servers === null ? 404 : 200,
  dns: servers === null ? [] : JSON.parse(servers),
  ...shownPeriod(period, timeZone),
})

/** A period in which the DNS gave the same MX records for a name. */
export const mailServersEntry = ({ servers, ...period }: ObservationRow, timeZone: string) => ({
  mx: JSON.parse(servers ?? '[]'),
  ...shownPeriod(period, timeZone),
})

const shownPeriod = ({ first_at, last_at }: Omit<ObservationRow, 'servers'>, timeZone: string) => ({
  first: localDateTime(first_at, timeZone),
  last: localDateTime(last_at, timeZone),
})
