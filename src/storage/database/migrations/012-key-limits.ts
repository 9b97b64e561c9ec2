import type { Migration } from './index.ts'

/** Both engines speak it. `expires_at` is in milliseconds since 1970; a rate is `rate_count` requests in `rate_ms` milliseconds. */
const limits = (table: string, integer: string) => `
    ALTER TABLE ${table} ADD COLUMN scope TEXT NOT NULL DEFAULT 'full';
    ALTER TABLE ${table} ADD COLUMN expires_at ${integer};
    ALTER TABLE ${table} ADD COLUMN rate_count ${integer};
    ALTER TABLE ${table} ADD COLUMN rate_ms ${integer};`

/**
 * What keys are limited to, how often those with a rate were used in their present window, and which keys of scope `upload`
 * uploaded an image. An image without a row in `image_uploads` is the application's; where there are rows, the one with an
 * empty `key_id` says that it is the application's too.
 */
export const keyLimits: Migration = {
  sqlite: `
    ${limits('keys', 'INTEGER')}
    ${limits('administrators', 'INTEGER')}

    CREATE TABLE key_rates (
      id TEXT PRIMARY KEY,
      count INTEGER NOT NULL,
      period_ms INTEGER NOT NULL,
      ends_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE image_uploads (
      account_id INTEGER NOT NULL,
      hash TEXT NOT NULL,
      key_id TEXT NOT NULL,
      PRIMARY KEY (account_id, hash, key_id),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    ${limits('keys', 'bigint').replaceAll('TEXT', 'text COLLATE "C"')}
    ${limits('administrators', 'bigint').replaceAll('TEXT', 'text COLLATE "C"')}

    CREATE TABLE key_rates (
      id text COLLATE "C" PRIMARY KEY,
      count bigint NOT NULL,
      period_ms bigint NOT NULL,
      ends_at bigint NOT NULL
    );

    CREATE TABLE image_uploads (
      account_id bigint NOT NULL,
      hash text COLLATE "C" NOT NULL,
      key_id text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, hash, key_id),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    );
  `,
}
