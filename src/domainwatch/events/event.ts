import type { Change, Cursor, Fields } from '../../storage/database/changes/change.ts'
import { matches, type FilteredRecord, type Filters } from '../filters.ts'

export const EVENT_KINDS = ['added', 'changed', 'discarded', 'deleted'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** A record as a change knows it. */
export interface ChangedRecord extends FilteredRecord {
  readonly date_mod: string
}

/** A change of a domain. */
export interface DomainEvent {
  readonly cursor: Cursor
  readonly kind: EventKind
  /** Milliseconds since 1970. */
  readonly at: number
  /** Name of the account on whose behalf it was made; null where there is none, as when the days of a record are over. */
  readonly account: string | null
  /** null where it was added. */
  readonly before: ChangedRecord | null
  /** null where it was deleted. */
  readonly after: ChangedRecord | null
}

export type AccountName = (id: number) => Promise<string | undefined>

/** Undefined where the change is about something else. */
export async function eventOf(change: Change, nameOf: AccountName): Promise<DomainEvent | undefined> {
  const kind = change.topic === 'domain' ? EVENT_KINDS.find((one) => one === change.kind) : undefined
  if (kind === undefined) return undefined
  const { cursor, at, key, accountId } = change
  return {
    cursor,
    kind,
    at,
    account: accountId === null ? null : ((await nameOf(accountId)) ?? null),
    before: recordOf(key, change.before),
    after: recordOf(key, change.after),
  }
}

function recordOf(name: string, fields: Fields | null): ChangedRecord | null {
  if (fields === null) return null
  const { agent, status, reserved, revision, discarded_at = null, date_reg, date_mod } = fields
  return {
    name,
    agent: String(agent),
    status: Number(status),
    reserved: Number(reserved),
    revision: Number(revision),
    discarded_at: discarded_at === null ? null : Number(discarded_at),
    date_reg: String(date_reg),
    date_mod: String(date_mod),
  }
}

/** The record that an event is about: as it is now, or as it was last. */
export function recordIn({ before, after }: DomainEvent): ChangedRecord | null {
  return after ?? before
}

/**
 * Whether an event concerns a list with these filters: its record is in it, or was. So whoever keeps such a list hears of
 * what comes, changes and goes.
 */
export function touches(filters: Filters, { before, after }: DomainEvent): boolean {
  return isIn(filters, after) || isIn(filters, before)
}

/** Whether an event brings a record into a list with these filters. */
export function enters(filters: Filters, { before, after }: DomainEvent): boolean {
  return isIn(filters, after) && !isIn(filters, before)
}

/** Whenever it is read, what is discarded was in lists at the time of the change. */
function isIn(filters: Filters, record: ChangedRecord | null): boolean {
  return record !== null && matches(filters, record, record.discarded_at ?? 0)
}

/** An event as clients see it. The records are as `list` shows them. */
export function toJson(event: DomainEvent): string {
  return JSON.stringify({
    event: event.kind,
    at: new Date(event.at).toISOString(),
    account: event.account,
    record: listed(recordIn(event)),
    before: event.after === null ? null : listed(event.before),
  })
}

function listed(record: ChangedRecord | null) {
  if (record === null) return null
  const { name, agent, status, reserved, revision, discarded_at, date_reg, date_mod } = record
  const discarded = discarded_at === null ? 0 : 1
  return { name, length: name.length, agent, status, reserved, revision, discarded, date_reg, date_mod }
}
