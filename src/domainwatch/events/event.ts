import {
  DOMAIN_FIELDS,
  type Change,
  type Cursor,
  type Fields,
} from '../../storage/database/changes/change.ts'
import type { SplitName } from '../words.ts'
import type { Rules } from '../rules/index.ts'
import {
  splitTags,
  changedRecord,
  type ChangedRecord,
  type Hides,
  objectionEnd,
  type ContextAt,
  type FilterContext,
} from '../filtered-record.ts'
import { letsThrough, type Filters } from '../filters.ts'
import { listedFields } from '../record-fields.ts'
import type { MxRecord } from '../../lib/dns/index.ts'

/** A change of name servers, or the first or last MX record of a name. Null: the name did not exist. */
export type DnsNews =
  | { readonly type: 'ns'; readonly from: readonly string[] | null; readonly to: readonly string[] | null }
  | { readonly type: 'mx'; readonly from: readonly MxRecord[]; readonly to: readonly MxRecord[] }

/** Returns undefined for a kind that a newer version writes. */
function getDnsNews({ kind, before, after }: Change): DnsNews | undefined {
  const [from, to] = [answerIn(before), answerIn(after)]
  if (kind === 'ns') return { type: 'ns', from, to }
  return kind === 'mx' ? { type: 'mx', from: from ?? [], to: to ?? [] } : undefined
}

function answerIn(fields: Fields | null) {
  return JSON.parse(String(fields?.['answer'] ?? null))
}

/** A null MX (RFC 7505) says that the domain accepts no mail. */
export function acceptsMail(records: readonly MxRecord[]): boolean {
  return records.some(({ exchange }) => exchange !== '.')
}

/** Kinds of events about a record, as the change log names them, and those of event streams. */
const RECORD_EVENTS = ['added', 'changed', 'discarded', 'deleted'] as const
export const EVENT_KINDS = [...RECORD_EVENTS, 'dns'] as const
/** `reminder`: the time to object to a registration ends soon. Only watches with `remind` get it. */
type EventKind = (typeof EVENT_KINDS)[number] | 'reminder'

/** A change of a domain. */
export interface DomainEvent {
  readonly cursor: Cursor
  readonly kind: EventKind
  /** Milliseconds since 1970. */
  readonly at: number
  /** Name of the account that made it; null if there is none, as for a record that expired. */
  readonly account: string | null
  /** null if it was added. */
  readonly before: ChangedRecord | null
  /** null if it was deleted. */
  readonly after: ChangedRecord | null
  /** What the DNS says now, and said before. Only in events of kind `dns`. */
  readonly dns?: DnsNews
  /** Only in reminders: how many days before the end it was due. */
  readonly daysLeft?: number
  /** As of the change. */
  readonly context: FilterContext
}

/** What happened to a name, in the terms of messages and Atom feeds. */
export type Occurrence =
  | 'new'
  | 'newFree'
  | 'released'
  | 'registered'
  | 'changed'
  | 'discarded'
  | 'deleted'
  | 'nameServers'
  | 'mailBegins'
  | 'mailEnds'
  | 'objectionEnds'

export function occurrenceOf({ kind, before, after, dns }: DomainEvent): Occurrence {
  switch (kind) {
    case 'added':
      return after?.status === 1 ? 'new' : 'newFree'
    case 'discarded':
    case 'deleted':
      return kind
    case 'changed':
      if (before?.status === 1 && after?.status === 0) return 'released'
      return before?.status === 0 && after?.status === 1 ? 'registered' : 'changed'
    case 'dns':
      if (dns?.type !== 'mx') return 'nameServers'
      return acceptsMail(dns.to) ? 'mailBegins' : 'mailEnds'
    case 'reminder':
      return 'objectionEnds'
  }
}

type AccountName = (id: number) => Promise<string | undefined>

/** What reading changes needs. */
export interface ChangeReading {
  readonly nameOf: AccountName
  readonly split: SplitName
  readonly contextAt: ContextAt
  readonly rules: Pick<Rules, 'current'>
}

/** Returns undefined for a change of anything other than a domain or its DNS. @param hides by the rules after the change */
export async function eventOf(
  change: Change,
  { nameOf, split, contextAt }: Omit<ChangeReading, 'rules'>,
  hides?: Hides,
): Promise<DomainEvent | undefined> {
  const { cursor, at, key, accountId } = change
  const dns = change.topic === 'dns' ? getDnsNews(change) : undefined
  const found = change.topic === 'domain' ? toRecordEvent(change) : toOtherEvent(change, dns)
  if (found === undefined) return undefined
  return {
    cursor,
    kind: found.kind,
    at,
    account: accountId === null ? null : ((await nameOf(accountId)) ?? null),
    before: found.before && changedRecord(key, found.before, split, hides),
    after: found.after && changedRecord(key, found.after, split, hides),
    ...(dns !== undefined && { dns }),
    ...(found.kind === 'reminder' && { daysLeft: Number(change.kind) }),
    context: contextAt(at),
  }
}

function toOtherEvent({ topic, before, after }: Change, dns: DnsNews | undefined) {
  if (topic === 'objection') return { kind: 'reminder' as const, before, after }
  return dns && { kind: 'dns' as const, before, after }
}

/** What a list of the registry changes in a record. */
const LISTED = ['status', 'date_reg', 'date_reg_known', 'released_at', 'deleted_after', 'past_drops'] as const
/** What no event shows. */
const HIDDEN: readonly string[] = [
  'date_reg_known',
  'deleted_after',
  'past_drops',
  'announce_as',
  'status_at',
  'numbers',
]
const SHOWN = DOMAIN_FIELDS.filter((field) => !HIDDEN.includes(field))

/**
 * Returns the event of a change of a record, if it is one. News that a list of deletions freed a name wait for a list of
 * registrations (`announce_as`): there is an event when the wait ends, not when the name is freed.
 */
function toRecordEvent({ kind: given, before, after }: Change) {
  const kind = RECORD_EVENTS.find((one) => one === given)
  if (kind === undefined || after === null) return kind && { kind, before, after }
  const differs = (field: (typeof DOMAIN_FIELDS)[number]) =>
    (before?.[field] ?? null) !== (after[field] ?? null)
  const awaited = before?.['announce_as'] ?? null
  if ((after['announce_as'] ?? null) !== null)
    return LISTED.some(differs) ? undefined : { kind, before, after }
  if (awaited === 'added') return { kind: 'added' as const, before: null, after }
  // It had been registered, even if no list showed that.
  if (awaited !== null && after['status'] === 0) return { kind, before: { ...before, status: 1 }, after }
  const isEarlier = before?.['status'] === 1 && after['status'] === 1 && differs('released_at')
  return isEarlier || !SHOWN.some(differs) ? undefined : { kind, before, after }
}

/** Returns the record of an event after the change, or before it if it was deleted. */
export function recordIn({ before, after }: DomainEvent): ChangedRecord | null {
  return after ?? before
}

/**
 * Which events clients want. `new`: records that come to match. `all`: every change of a record that matches, or
 * did. `dns`: changes of the DNS of records that match.
 */
export const EVENT_CHOICES = ['all', 'dns', 'all,dns'] as const
export const WATCH_CHOICES = ['new', 'all', 'dns', 'new,dns', 'all,dns'] as const
export type Changes = (typeof WATCH_CHOICES)[number]

/**
 * Returns true if an event is one that `changes` asks for and concerns the filters.
 * @param remind how many days before the end of the time for objections reminders are wanted
 */
export function concerns(changes: Changes, filters: Filters, event: DomainEvent, remind?: number): boolean {
  const { kind, before, after, context } = event
  // A discarded record was still listed at the time of its last change.
  const isIn = (record: ChangedRecord | null) => record !== null && letsThrough(filters, record, context)
  if (kind === 'reminder') return event.daysLeft === remind && isIn(after)
  if (kind === 'dns') return changes.endsWith('dns') && isIn(after)
  if (changes.startsWith('new')) return isIn(after) && !isIn(before)
  // A client that maintains such a list is also notified of records that leave it.
  return changes.startsWith('all') && (isIn(after) || isIn(before))
}

/**
 * Serialises an event for clients. Its records have the fields of `list`, and what people added to them.
 * @param brand the name that its name resembles
 */
export function toJson(event: DomainEvent, brand?: string): string {
  return JSON.stringify({
    event: event.kind,
    at: new Date(event.at).toISOString(),
    account: event.account,
    record: listedRecord(recordIn(event)),
    before: event.after === null || event.kind === 'dns' ? null : listedRecord(event.before),
    dns: event.dns,
    object_until: objectUntil(event),
    resembles: brand,
  })
}

/** Returns when the time for an objection ends, which a reminder is about; undefined for other events. */
export function objectUntil({ kind, after, context }: DomainEvent): string | undefined {
  return kind === 'reminder' && after !== null
    ? (objectionEnd(after, context.localNow) ?? undefined)
    : undefined
}

/** 1 if someone has decided on the record. */
const seenIn = ({ seen_at }: ChangedRecord): 0 | 1 => (seen_at === null ? 0 : 1)

function listedRecord(record: ChangedRecord | null) {
  if (record === null) return null
  return {
    ...listedFields(record),
    seen: seenIn(record),
    note: record.note ?? '',
    tags: splitTags(record.tags),
  }
}
