import { localDateTime } from '../../lib/dates.ts'
import { changeOf, type Change, type Fields } from '../../storage/database/changes/change.ts'
import type { SqlValue } from '../../storage/database/sql.ts'
import { DISCARDED_LIFETIME_MS } from '../limits.ts'
import type { MxRecord } from '../../lib/dns/index.ts'
import { splitTags } from '../tags.ts'
import type { ObservationRow } from './queries.ts'

export const CHANGE_KINDS = ['added', 'changed', 'discarded', 'restored', 'deleted'] as const
type Kind = (typeof CHANGE_KINDS)[number]

/** A change of a record, as clients see it. */
export interface ChangeEntry {
  readonly date: string
  /** null if unknown: the record expired, or was written outside the service. */
  readonly account: string | null
  readonly kind: Kind
  /** The fields that changed, or all of an added or deleted record; null if there was no record. */
  readonly from: ShownFields | null
  readonly to: ShownFields | null
}

type ShownFields = Readonly<Record<string, Fields[string] | readonly string[]>>

/** A period in which the DNS gave the same answer for a name. */
export interface NameServersEntry {
  readonly status: 200 | 404
  readonly dns: readonly string[]
  readonly first: string
  readonly last: string
}

/** A period in which the DNS gave the same MX records for a name. */
export interface MailServersEntry {
  readonly mx: readonly MxRecord[]
  readonly first: string
  readonly last: string
}

/** @param row a row of `changesOfDomain` */
export function changeEntry(row: readonly SqlValue[], timeZone: string): ChangeEntry | undefined {
  const change = changeOf(row, '')
  if (change === undefined) return undefined
  const [from, to] = [exportedFields(change.before), exportedFields(change.after)]
  const changed = Object.keys(from ?? to ?? {}).filter((name) => from?.[name] !== to?.[name])
  const only = (fields: Fields | null) =>
    fields && Object.fromEntries(changed.map((name) => [name, shown(name, fields[name] ?? null)]))
  return {
    date: localDateTime(effectiveTime(change), timeZone),
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

export function nameServersEntry(row: ObservationRow, timeZone: string): NameServersEntry {
  const { servers, first_at, last_at } = row
  return {
    status: servers === null ? 404 : 200,
    dns: servers === null ? [] : JSON.parse(servers),
    first: localDateTime(first_at, timeZone),
    last: localDateTime(last_at, timeZone),
  }
}

export function mailServersEntry(row: ObservationRow, timeZone: string): MailServersEntry {
  const { servers, first_at, last_at } = row
  return {
    mx: JSON.parse(servers ?? '[]'),
    first: localDateTime(first_at, timeZone),
    last: localDateTime(last_at, timeZone),
  }
}
