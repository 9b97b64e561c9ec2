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

const copied = (table: Table): Policy => ({ kind: 'copied', table })
const left = (name: string): Policy => ({ kind: 'left', name })

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
    },
  }),
  copied({ name: 'feeds', key: ['account_id'], columns: { account_id: 'integer', added_at: 'integer' } }),
  copied({
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
  }),
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
    },
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
  // Followers are told that they lost track: what was changed here is another story than what is copied.
  left('changes'),
  left('change_log'),
  left('failed_keys'),
  left('leases'),
  left('moves'),
  // PostgreSQL's own count of the migrations.
  left('schema_version'),
]

export const copiedTables: readonly Table[] = policies.flatMap((policy) =>
  policy.kind === 'copied' ? [policy.table] : [],
)
