import type { ValueType } from './batch.ts'

/** A table as it goes from one database to another, or into a backup. */
export interface Table {
  readonly name: string
  /** The primary key. All its texts sort by code point. */
  readonly key: readonly string[]
  /** What is stored; generated columns are not among them. The key's columns come first, in the key's order. */
  readonly columns: Readonly<Record<string, ValueType>>
  /** The column whose values the database makes by itself: after rows with given values it must go on behind them. */
  readonly identity?: string
}

/** What becomes of a table when an instance is moved. */
export type Policy =
  | { readonly kind: 'copied'; readonly table: Table }
  /** It says something about this very place, or about the moment, and would be wrong elsewhere. */
  | { readonly kind: 'left'; readonly name: string }

const KEY_LIMITS = {
  scope: 'text',
  expires_at: 'integer',
  rate_count: 'integer',
  rate_ms: 'integer',
} as const

const copied = (table: Table): Policy => ({ kind: 'copied', table })
const left = (name: string): Policy => ({ kind: 'left', name })

/** What is exported of a domain is a row of it, and what is imported again. */
export const DOMAINS = {
  name: 'domains',
  key: ['name'],
  columns: {
    name: 'text',
    ascii: 'text',
    length: 'integer',
    agent: 'text',
    agent_folded: 'text',
    status: 'integer',
    reserved: 'integer',
    revision: 'integer',
    discarded_at: 'integer',
    date_reg: 'text',
    date_mod: 'text',
    released_at: 'text',
  },
} as const satisfies Table

/** Triggers write here whatever is written to other tables: it can only be made equal after all of them. */
export const CHANGES = 'changes'

/** Every table of the schema. Whatever a row refers to comes before it. */
export const policies: readonly Policy[] = [
  copied({
    name: 'accounts',
    key: ['id'],
    columns: { id: 'integer', name: 'text', service: 'text', created_at: 'integer' },
    identity: 'id',
  }),
  copied({
    name: 'keys',
    key: ['id'],
    columns: {
      id: 'text',
      account_id: 'integer',
      digest: 'text',
      created_at: 'integer',
      revoked_at: 'integer',
      ...KEY_LIMITS,
    },
  }),
  copied({ name: 'feeds', key: ['account_id'], columns: { account_id: 'integer', added_at: 'integer' } }),
  copied(DOMAINS),
  copied({
    name: 'blobs',
    key: ['hash'],
    columns: {
      hash: 'text',
      key: 'text',
      format: 'text',
      mime: 'text',
      size: 'integer',
      width: 'integer',
      height: 'integer',
      frames: 'integer',
      dhash: 'text',
      thumbhash: 'text',
    },
  }),
  copied({
    name: 'images',
    key: ['account_id', 'hash'],
    columns: {
      account_id: 'integer',
      hash: 'text',
      name: 'text',
      name_folded: 'text',
      ip: 'text',
      date: 'integer',
      expires: 'integer',
    },
  }),
  copied({
    name: 'image_uploads',
    key: ['account_id', 'hash', 'key_id'],
    columns: { account_id: 'integer', hash: 'text', key_id: 'text' },
  }),
  copied({
    name: 'delivery',
    key: ['account_id'],
    columns: { account_id: 'integer', mode: 'text', secret: 'text' },
  }),
  copied({
    name: 'image_limits',
    key: ['account_id'],
    columns: { account_id: 'integer', max_bytes: 'integer', max_images: 'integer' },
  }),
  // Cursors are of this database alone: elsewhere a watch begins with a gap.
  copied({
    name: 'watches',
    key: ['id'],
    columns: {
      id: 'text',
      account_id: 'integer',
      name: 'text',
      filters: 'text',
      changes: 'text',
      created_at: 'integer',
      state: 'text',
      url: 'text',
      secret: 'text',
      cursor: 'text',
      delivery_id: 'text',
      delivery_body: 'text',
      delivery_cursor: 'text',
      attempts: 'integer',
      next_at: 'integer',
      delivered_at: 'integer',
      last_error: 'text',
      last_error_at: 'integer',
      feed_digest: 'text',
      feed_cursor: 'text',
      feed: 'text',
    },
  }),
  // The store may be moved without its database, and then what was to be removed from it still is.
  copied({ name: 'blob_trash', key: ['key'], columns: { key: 'text' } }),
  // A store of images knows its database by this.
  copied({ name: 'instance', key: ['only_row'], columns: { only_row: 'integer', id: 'text' } }),
  copied({
    name: 'name_servers',
    key: ['name', 'first_at'],
    columns: { name: 'text', first_at: 'integer', last_at: 'integer', servers: 'text' },
  }),
  copied({
    name: 'administrators',
    key: ['id'],
    columns: {
      id: 'text',
      name: 'text',
      digest: 'text',
      created_at: 'integer',
      revoked_at: 'integer',
      ...KEY_LIMITS,
    },
  }),
  // The history of records. Their ids stay, but of which log they are does not: `renewLog`.
  copied({
    name: CHANGES,
    key: ['id'],
    columns: {
      id: 'integer',
      at: 'integer',
      topic: 'text',
      kind: 'text',
      key: 'text',
      account_id: 'integer',
      before: 'text',
      after: 'text',
    },
    identity: 'id',
  }),
  left('key_uses'),
  left('key_rates'),
  left('change_log'),
  left('failed_keys'),
  left('leases'),
  left('moves'),
  // Triggers make them again from the images.
  left('image_dhashes'),
  left('image_totals'),
  left('image_usage'),
  // PostgreSQL's own count of the migrations.
  left('schema_version'),
]

export const copiedTables: readonly Table[] = policies.flatMap((policy) =>
  policy.kind === 'copied' ? [policy.table] : [],
)

/** @throws if no table that is copied has this name */
export function tableNamed(name: string): Table {
  const table = copiedTables.find((one) => one.name === name)
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}
