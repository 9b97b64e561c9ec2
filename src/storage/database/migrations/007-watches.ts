import type { Migration } from './index.ts'

/**
 * Saved filters and where each stands: what was told of up to `cursor` by webhook and up to `feed_cursor` in the feed. The
 * delivery under way is kept until it succeeds, so that it is the same after a crash. `feed` is a JSON array of entries.
 */
const columns = (text: string, integer: string) => `
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      filters ${text} NOT NULL,
      changes ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      state ${text} NOT NULL,
      url ${text},
      secret ${text},
      cursor ${text},
      delivery_id ${text},
      delivery_body ${text},
      delivery_cursor ${text},
      attempts ${integer} NOT NULL DEFAULT 0,
      next_at ${integer} NOT NULL DEFAULT 0,
      delivered_at ${integer},
      last_error ${text},
      last_error_at ${integer},
      feed_digest ${text} UNIQUE,
      feed_cursor ${text},
      feed ${text}`

export const watches: Migration = {
  sqlite: `
    CREATE TABLE watches (${columns('TEXT', 'INTEGER')}
    ) STRICT;
    CREATE INDEX watches_by_account ON watches (account_id, created_at, id);
  `,
  postgres: `
    CREATE TABLE watches (${columns('text COLLATE "C"', 'bigint')}
    );
    CREATE INDEX watches_by_account ON watches (account_id, created_at, id);
  `,
}
