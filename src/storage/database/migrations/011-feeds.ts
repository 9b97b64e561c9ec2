import type { Migration } from './index.ts'

/** When each account last added domains, even if that changed nothing. Milliseconds since 1970. */
export const feeds: Migration = {
  sqlite: `
    CREATE TABLE feeds (
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      added_at INTEGER NOT NULL
    ) STRICT;
  `,
  postgres: `
    CREATE TABLE feeds (
      account_id bigint PRIMARY KEY REFERENCES accounts (id),
      added_at bigint NOT NULL
    );
  `,
}
