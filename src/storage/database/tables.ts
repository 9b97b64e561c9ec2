import type { ValueType } from './batch.ts'

/** A table that is copied to another database or into a backup. */
export interface Table {
  readonly name: string
  /** The primary key. Its text columns sort by code point. */
  readonly key: readonly string[]
  /** The stored columns, without generated ones. The columns of the key come first, in its order. */
  readonly columns: Readonly<Record<string, ValueType>>
  /** The identity column. After rows with explicit ids, its sequence has to be advanced. */
  readonly identity?: string
}

const KEY_LIMITS = {
  scope: 'text',
  expires_at: 'integer',
  rate_count: 'integer',
  rate_ms: 'integer',
} as const

/** The columns that exports contain and imports restore. */
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
    seen_at: 'integer',
    seen_by: 'text',
    note: 'text',
    tags: 'text',
    words: 'text',
  },
} as const satisfies Table

const OBSERVATIONS = {
  key: ['name', 'first_at'],
  columns: { name: 'text', first_at: 'integer', last_at: 'integer', servers: 'text' },
} as const

/** Triggers add a row for every write to other tables, so this table can be made equal only after all of them. */
export const CHANGES = 'changes'

/** The tables that are copied, each after those that its rows refer to. */
export const copiedTables: readonly Table[] = [
  {
    name: 'accounts',
    key: ['id'],
    columns: { id: 'integer', name: 'text', service: 'text', created_at: 'integer' },
    identity: 'id',
  },
  {
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
  },
  { name: 'feeds', key: ['account_id'], columns: { account_id: 'integer', added_at: 'integer' } },
  DOMAINS,
  {
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
  },
  {
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
  },
  {
    name: 'image_uploads',
    key: ['account_id', 'hash', 'key_id'],
    columns: { account_id: 'integer', hash: 'text', key_id: 'text' },
  },
  {
    name: 'delivery',
    key: ['account_id'],
    columns: { account_id: 'integer', mode: 'text', secret: 'text' },
  },
  {
    name: 'image_limits',
    key: ['account_id'],
    columns: { account_id: 'integer', max_bytes: 'integer', max_images: 'integer' },
  },
  // Cursors are valid in one database only: in a copy, a watch starts with a gap.
  {
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
      language: 'text',
      digest: 'text',
      shared: 'integer',
      paused: 'integer',
      version: 'integer',
      previous_secret: 'text',
      previous_secret_until: 'integer',
      deliveries: 'integer',
    },
  },
  {
    name: 'watch_destinations',
    key: ['id'],
    columns: {
      id: 'text',
      watch_id: 'text',
      position: 'integer',
      channel: 'text',
      address: 'text',
      state: 'text',
      cursor: 'text',
      delivery_id: 'text',
      delivery_body: 'text',
      delivery_cursor: 'text',
      attempts: 'integer',
      next_at: 'integer',
      delivered_at: 'integer',
      last_error: 'text',
      last_error_at: 'integer',
      resumes: 'integer',
    },
  },
  {
    name: 'watch_deliveries',
    key: ['watch_id', 'number'],
    columns: {
      watch_id: 'text',
      number: 'integer',
      id: 'text',
      destination_id: 'text',
      channel: 'text',
      created_at: 'integer',
      events: 'integer',
      state: 'text',
      attempts: 'integer',
      code: 'integer',
      duration_ms: 'integer',
      error: 'text',
      body: 'text',
      replay_at: 'integer',
    },
  },
  // The store may be moved without its database, and then still has to remove these.
  { name: 'blob_trash', key: ['key'], columns: { key: 'text' } },
  // A store of images identifies its database by this.
  { name: 'instance', key: ['only_row'], columns: { only_row: 'integer', id: 'text' } },
  { name: 'name_servers', ...OBSERVATIONS },
  { name: 'mail_servers', ...OBSERVATIONS },
  {
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
  },
  // The history of records. Their ids are kept, but they become those of another log: `renewLog`.
  {
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
  },
]

/** @throws if no table that is copied has this name */
export function tableNamed(name: string): Table {
  const table = copiedTables.find((one) => one.name === name)
  if (table === undefined) throw new Error(`there is no table ${name}`)
  return table
}
