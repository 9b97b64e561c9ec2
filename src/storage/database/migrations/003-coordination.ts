import type { Migration } from './index.ts'

export const coordination: Migration = {
  sqlite: `
    -- Who does what only one process or node is to do. Moments are milliseconds by the database's clock.
    CREATE TABLE leases (
      name TEXT PRIMARY KEY,
      holder TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      due_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Wrong keys of all processes and nodes, by a digest of the address that sent them.
    CREATE TABLE failed_keys (
      address TEXT PRIMARY KEY,
      count INTEGER NOT NULL,
      ends_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX failed_keys_by_end ON failed_keys (ends_at);
  `,
  postgres: `
    CREATE TABLE leases (
      name text COLLATE "C" PRIMARY KEY,
      holder text COLLATE "C" NOT NULL,
      expires_at bigint NOT NULL,
      due_at bigint NOT NULL
    );

    CREATE TABLE failed_keys (
      address text COLLATE "C" PRIMARY KEY,
      count bigint NOT NULL,
      ends_at bigint NOT NULL
    );
    CREATE INDEX failed_keys_by_end ON failed_keys (ends_at);
  `,
}
