import type { SqlValue } from '../sql.ts'

/** What a change is about. A cache names the topics that it depends on. */
export const TOPICS = ['domain', 'image', 'alias', 'key', 'account', 'dns', 'objection'] as const
export type Topic = (typeof TOPICS)[number]

/** Position of a follower: it has read all changes up to here. Opaque, and valid across restarts. */
export type Cursor = string & { readonly __brand: 'Cursor' }

/** The fields of a record, by name. */
export type Fields = Readonly<Record<string, string | number | null>>

/** One record changed by one transaction. */
export interface Change {
  readonly cursor: Cursor
  /** Milliseconds since 1970, by the clock of the database. */
  readonly at: number
  readonly topic: Topic
  /**
   * domain: added, changed, discarded, deleted · image: stored, deleted, expired, purged (from the trash) · alias: changed · key: made, revoked · account: made, changed ·
   * dns: ns, mx · objection: the days that are left to object to a registration
   */
  readonly kind: string
  /** The domain's name (also of dns and objection), the image's hash, the alias, the key's id, the account's name. */
  readonly key: string
  /** The author; null if unknown: a deletion by time, or a write from outside the service. */
  readonly accountId: number | null
  /** Null if the record did not exist before, or does not exist after, and for keys. */
  readonly before: Fields | null
  readonly after: Fields | null
}

/** The columns of a domain in the order in which changes hold them. Versions add some at the end: older changes lack them. */
export const DOMAIN_FIELDS = [
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'date_mod',
  'released_at',
  'seen_at',
  'seen_by',
  'note',
  'tags',
  'date_reg_known',
  'deleted_after',
  'past_drops',
  'announce_as',
  'status_at',
  'numbers',
] as const

/** The fields of each topic, in the order in which changes hold them. */
const FIELDS: Readonly<Record<Topic, readonly string[]>> = {
  domain: DOMAIN_FIELDS,
  image: ['name', 'date'],
  alias: ['hash'],
  key: [],
  account: ['service'],
  // The answer of the DNS as JSON, and the record to which it belongs.
  dns: ['answer', ...DOMAIN_FIELDS],
  objection: DOMAIN_FIELDS,
}

/** Returns the change in a row of `queries.ts`; undefined if its topic is unknown. */
export function toChange(row: readonly SqlValue[], epoch: string): Change | undefined {
  const [id, at, topic, kind, key, account, before, after] = row
  const known = TOPICS.find((one) => one === topic)
  // Written by a newer version during a rolling restart.
  if (known === undefined) return undefined
  return {
    cursor: toCursor(epoch, Number(id)),
    at: Number(at),
    topic: known,
    kind: String(kind),
    key: String(key),
    accountId: account === null || account === undefined ? null : Number(account),
    before: toFields(known, before),
    after: toFields(known, after),
  }
}

function toFields(topic: Topic, json: SqlValue | undefined): Fields | null {
  if (typeof json !== 'string') return null
  return namedFields(topic, JSON.parse(json))
}

/** @param values as the triggers write them */
export function namedFields(topic: Topic, values: readonly (string | number | null)[]): Fields {
  return Object.fromEntries(FIELDS[topic].map((name, i) => [name, values[i] ?? null]))
}

export function toCursor(epoch: string, id: number): Cursor {
  return `${epoch}-${id}` as Cursor
}

/** Parses a cursor from outside; undefined if it is not one. */
export function parseCursor(cursor: string): { readonly epoch: string; readonly id: number } | undefined {
  const [, epoch, id] = /^([0-9a-f]{12})-(\d{1,15})$/.exec(cursor) ?? []
  return epoch === undefined ? undefined : { epoch, id: Number(id) }
}
