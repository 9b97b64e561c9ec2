/**
 * The tables that are the same on both engines. Each engine has its own names for the types `TEXT`, `INT64` and `INT32`.
 * PostgreSQL sorts text by code point (`COLLATE "C"`), as SQLite does, because order and cursors must agree.
 */
const TABLES = `
    CREATE TABLE accounts (
      id IDENTITY,
      name TEXT NOT NULL UNIQUE,
      service TEXT NOT NULL CHECK (service IN ('domainwatch', 'imagestore')),
      created_at INT64 NOT NULL
    ) STRICT;

    -- Times ending in _at are milliseconds since 1970. A rate is rate_count requests in rate_ms milliseconds.
    CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      account_id INT64 NOT NULL REFERENCES accounts (id),
      digest TEXT NOT NULL UNIQUE,
      created_at INT64 NOT NULL,
      revoked_at INT64,
      scope TEXT NOT NULL DEFAULT 'full',
      expires_at INT64,
      rate_count INT64,
      rate_ms INT64
    ) STRICT, WITHOUT ROWID;

    -- Keys of the service admin.
    CREATE TABLE administrators (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      created_at INT64 NOT NULL,
      revoked_at INT64,
      scope TEXT NOT NULL DEFAULT 'full',
      expires_at INT64,
      rate_count INT64,
      rate_ms INT64
    ) STRICT, WITHOUT ROWID;

    -- When a key was last used, to within some minutes.
    CREATE TABLE key_uses (
      id TEXT PRIMARY KEY,
      used_at INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Requests of rate-limited keys in their current window.
    CREATE TABLE key_rates (
      id TEXT PRIMARY KEY,
      count INT64 NOT NULL,
      period_ms INT64 NOT NULL,
      ends_at INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Wrong keys sent to any process or node, by a digest of the client's address.
    CREATE TABLE failed_keys (
      address TEXT PRIMARY KEY,
      count INT64 NOT NULL,
      ends_at INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX failed_keys_by_end ON failed_keys (ends_at);

    -- tags and words have a space before and after each (' casa venta '), so that one search finds a whole one.
    CREATE TABLE domains (
      name TEXT PRIMARY KEY,
      ascii TEXT,
      length INT32 NOT NULL,
      agent TEXT NOT NULL,
      agent_folded TEXT NOT NULL,
      status INT32 NOT NULL,
      reserved INT32 NOT NULL,
      revision INT32 NOT NULL DEFAULT 0,
      discarded_at INT64,
      date_reg TEXT NOT NULL,
      date_mod TEXT NOT NULL,
      released_at TEXT,
      deleted_at TEXT GENERATED ALWAYS AS (CASE WHEN status = 0 THEN COALESCE(released_at, date_reg) END) STORED,
      seen_at INT64,
      seen_by TEXT,
      note TEXT,
      tags TEXT,
      words TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX domains_expiring ON domains (discarded_at) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_tagged ON domains (name) WHERE tags IS NOT NULL;

    -- By which dictionary all names were split.
    CREATE TABLE name_splits (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      digest TEXT NOT NULL
    ) STRICT;

    -- Records that accounts have claimed from the queue. Triggers remove claims, because a foreign key locks the rows of the account
    -- and the domain for each claim. No index contains until: each claim changes that of all records that the account holds.
    CREATE TABLE claims (
      name TEXT PRIMARY KEY,
      account_id INT64 NOT NULL,
      until INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX claims_by_account ON claims (account_id);

    -- When each account last added domains, even if that changed nothing.
    CREATE TABLE feeds (
      account_id INT64 PRIMARY KEY REFERENCES accounts (id),
      added_at INT64 NOT NULL
    ) STRICT;

    -- Name servers observed for a name. servers is a JSON array of host names, NULL if the name did not exist.
    CREATE TABLE name_servers (
      name TEXT NOT NULL,
      first_at INT64 NOT NULL,
      last_at INT64 NOT NULL,
      servers TEXT,
      PRIMARY KEY (name, first_at)
    ) STRICT, WITHOUT ROWID;

    -- Observed MX records, in the same form.
    CREATE TABLE mail_servers (
      name TEXT NOT NULL,
      first_at INT64 NOT NULL,
      last_at INT64 NOT NULL,
      servers TEXT,
      PRIMARY KEY (name, first_at)
    ) STRICT, WITHOUT ROWID;

    -- Names that are looked up again, and when. account_id is the account whose watch asks for it, 0 for all members.
    CREATE TABLE dns_checks (
      name TEXT PRIMARY KEY,
      account_id INT64 NOT NULL,
      due_at INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX dns_checks_by_due ON dns_checks (account_id, due_at);

    -- When the lists of the feeds were fetched, and with which result. source is a digest of the settings that the validators
    -- etag and last_modified belong to; failures counts the failed attempts since the last success.
    CREATE TABLE feed_states (
      name TEXT PRIMARY KEY,
      source TEXT NOT NULL,
      first_at INT64 NOT NULL,
      attempted_at INT64 NOT NULL,
      due_at INT64 NOT NULL,
      succeeded_at INT64,
      changed_at INT64,
      failures INT64 NOT NULL,
      error TEXT,
      etag TEXT,
      last_modified TEXT,
      records_read INT64,
      records_changed INT64,
      lines_refused INT64
    ) STRICT, WITHOUT ROWID;

    -- Saved filters. feed_cursor is the position of the Atom feed, feed a JSON array of its entries. version counts the edits, deliveries
    -- those that it ever began, digest is HH:MM or NULL for immediate messages. url, and cursor to last_error_at, are of no use since
    -- destinations have rows of their own.
    CREATE TABLE watches (
      id TEXT PRIMARY KEY,
      account_id INT64 NOT NULL REFERENCES accounts (id),
      name TEXT NOT NULL,
      filters TEXT NOT NULL,
      changes TEXT NOT NULL,
      created_at INT64 NOT NULL,
      state TEXT NOT NULL,
      url TEXT,
      secret TEXT,
      cursor TEXT,
      delivery_id TEXT,
      delivery_body TEXT,
      delivery_cursor TEXT,
      attempts INT64 NOT NULL DEFAULT 0,
      next_at INT64 NOT NULL DEFAULT 0,
      delivered_at INT64,
      last_error TEXT,
      last_error_at INT64,
      feed_digest TEXT UNIQUE,
      feed_cursor TEXT,
      feed TEXT,
      language TEXT NOT NULL DEFAULT 'es',
      digest TEXT,
      shared INT64 NOT NULL DEFAULT 0,
      paused INT64 NOT NULL DEFAULT 0,
      version INT64 NOT NULL DEFAULT 0,
      previous_secret TEXT,
      previous_secret_until INT64,
      deliveries INT64 NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX watches_by_account ON watches (account_id, created_at, id);
    CREATE INDEX watches_shared ON watches (created_at, id) WHERE shared = 1;

    -- Where notifications of a watch are sent. Each destination has its own position in the changes and its own pending delivery, which
    -- is stored so that it is the same after a crash. resumes counts the immediate attempts that were requested.
    CREATE TABLE watch_destinations (
      id TEXT PRIMARY KEY,
      watch_id TEXT NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
      position INT64 NOT NULL,
      channel TEXT NOT NULL,
      address TEXT NOT NULL,
      state TEXT NOT NULL,
      cursor TEXT NOT NULL,
      delivery_id TEXT,
      delivery_body TEXT,
      delivery_cursor TEXT,
      attempts INT64 NOT NULL DEFAULT 0,
      next_at INT64 NOT NULL DEFAULT 0,
      delivered_at INT64,
      last_error TEXT,
      last_error_at INT64,
      resumes INT64 NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX watch_destinations_by_watch ON watch_destinations (watch_id, position);

    -- Deliveries of the last 30 days.
    CREATE TABLE watch_deliveries (
      watch_id TEXT NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
      number INT64 NOT NULL,
      id TEXT NOT NULL UNIQUE,
      destination_id TEXT NOT NULL,
      channel TEXT NOT NULL,
      created_at INT64 NOT NULL,
      events INT64 NOT NULL,
      state TEXT NOT NULL,
      attempts INT64 NOT NULL DEFAULT 0,
      code INT64,
      duration_ms INT64,
      error TEXT,
      body TEXT,
      replay_at INT64,
      PRIMARY KEY (watch_id, number)
    ) STRICT;
    CREATE INDEX watch_deliveries_by_age ON watch_deliveries (created_at);
    CREATE INDEX watch_deliveries_to_replay ON watch_deliveries (destination_id, replay_at) WHERE replay_at IS NOT NULL;

    CREATE TABLE blobs (
      hash TEXT PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      format TEXT NOT NULL,
      mime TEXT NOT NULL,
      size INT64 NOT NULL,
      width INT32 NOT NULL,
      height INT32 NOT NULL,
      frames INT32 NOT NULL,
      dhash TEXT NOT NULL,
      thumbhash TEXT
    ) STRICT, WITHOUT ROWID;

    -- date and expires are seconds since 1970; expires is NULL for never. An erased ip is ''.
    CREATE TABLE images (
      account_id INT64 NOT NULL REFERENCES accounts (id),
      hash TEXT NOT NULL REFERENCES blobs (hash),
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      ip TEXT NOT NULL,
      date INT64 NOT NULL,
      expires INT64,
      PRIMARY KEY (account_id, hash)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX images_by_hash ON images (hash);
    CREATE INDEX images_expiring ON images (expires) WHERE expires IS NOT NULL;
    CREATE INDEX images_with_address ON images (date) WHERE ip <> '';

    -- Which keys of scope upload uploaded an image. An image without a row belongs to the application; where there are rows,
    -- an empty key_id says that it belongs to the application too.
    CREATE TABLE image_uploads (
      account_id INT64 NOT NULL,
      hash TEXT NOT NULL,
      key_id TEXT NOT NULL,
      PRIMARY KEY (account_id, hash, key_id),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;

    -- Quotas. No row, or NULL, means no limit.
    CREATE TABLE image_limits (
      account_id INT64 PRIMARY KEY REFERENCES accounts (id),
      max_bytes INT64,
      max_images INT64
    ) STRICT;

    -- Delivery mode of an application's images; without a row, open. The secret is stored as it is, because checking a
    -- signature means computing it.
    CREATE TABLE delivery (
      account_id INT64 PRIMARY KEY REFERENCES accounts (id),
      mode TEXT NOT NULL CHECK (mode IN ('open', 'ladder', 'presets', 'signed')),
      secret TEXT
    ) STRICT;

    -- Triggers keep the next three, expired images included until they are removed. A day counts from 1970, in UTC.
    CREATE TABLE image_dhashes (
      account_id INT64 NOT NULL,
      dhash TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (account_id, dhash, hash)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE image_totals (
      account_id INT64 PRIMARY KEY,
      images INT64 NOT NULL,
      bytes INT64 NOT NULL
    ) STRICT;
    CREATE TABLE image_usage (
      account_id INT64 NOT NULL,
      day INT64 NOT NULL,
      mime TEXT NOT NULL,
      images INT64 NOT NULL,
      bytes INT64 NOT NULL,
      PRIMARY KEY (account_id, day, mime)
    ) STRICT, WITHOUT ROWID;

    -- Keys of blobs that no image refers to any more, until their bytes are removed.
    CREATE TABLE blob_trash (
      key TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;

    -- Which process or node runs a background job. Times are of the database's clock.
    CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      expires_at INT64 NOT NULL,
      due_at INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Marks of copies and backups that other processes respect.
    CREATE TABLE moves (
      name TEXT PRIMARY KEY,
      until INT64 NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Identifies this database: a store of images names it as its owner. It is copied with the data.
    CREATE TABLE instance (
      only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
      id TEXT NOT NULL
    ) STRICT;
`

export const sqliteTables: string = TABLES.replaceAll('IDENTITY', 'INTEGER PRIMARY KEY').replaceAll(
  /\bINT(64|32)\b/g,
  'INTEGER',
)

export const postgresTables: string = TABLES.replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
  .replaceAll('IDENTITY', 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY')
  .replaceAll(/\bTEXT\b/g, 'text COLLATE "C"')
  .replaceAll(/\bINT64\b/g, 'bigint')
  .replaceAll(/\bINT32\b/g, 'integer')

/** A domain's columns as a change stores them; a trigger writes them as a JSON array. */
export const DOMAIN_COLUMNS = [
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
]

/** Every column of an image that an update can change, except `ip`: erasing an address is not a change of the image. */
export const IMAGE_COLUMNS = 'name, name_folded, date, expires'

/** Seconds in a day: `images.date` counts seconds, in UTC. */
export const DAY = 86_400

/** Updates usage per day and type of the images with a blob's bytes. Both engines accept it. */
const usage = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, ${row}.mime, ${sign} * count(*), ${sign} * count(*) * ${row}.size
      FROM images WHERE hash = ${row}.hash GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (account_id, day, mime) DO UPDATE
        SET images = image_usage.images + excluded.images, bytes = image_usage.bytes + excluded.bytes;`

/** Recounts the images of a blob whose type or size was replaced. */
export const RECOUNT_BLOB = `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, 0, NEW.size - OLD.size FROM images WHERE hash = NEW.hash ORDER BY 1
      ON CONFLICT (account_id) DO UPDATE SET bytes = image_totals.bytes + excluded.bytes;
      ${usage('OLD', -1)}
      ${usage('NEW', 1)}`
