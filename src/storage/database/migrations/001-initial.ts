import type { Migration } from './index.ts'

export const initial: Migration = {
  sqlite: `
    CREATE TABLE accounts (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      service TEXT NOT NULL CHECK (service IN ('domainwatch', 'imagestore')),
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE keys (
      id TEXT PRIMARY KEY,
      account_id INTEGER NOT NULL REFERENCES accounts (id),
      digest TEXT NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;

    -- The name is the key, so every index below carries it as its last column and breaks ties by it.
    CREATE TABLE domains (
      name TEXT PRIMARY KEY,
      ascii TEXT,
      length INTEGER NOT NULL,
      agent TEXT NOT NULL,
      agent_folded TEXT NOT NULL,
      status INTEGER NOT NULL,
      reserved INTEGER NOT NULL,
      revision INTEGER NOT NULL DEFAULT 0,
      discarded_at INTEGER,
      date_reg TEXT NOT NULL,
      date_mod TEXT NOT NULL,
      released_at TEXT,
      deleted_at TEXT GENERATED ALWAYS AS (CASE WHEN status = 0 THEN COALESCE(released_at, date_reg) END) STORED
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX domains_by_date ON domains (date_reg);
    CREATE INDEX domains_by_status ON domains (status, date_reg);
    CREATE INDEX domains_by_deletion ON domains (deleted_at) WHERE deleted_at IS NOT NULL;
    CREATE INDEX domains_expiring ON domains (discarded_at) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_discarded ON domains (date_reg) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_in_review ON domains (date_reg) WHERE revision = 1;
    CREATE INDEX domains_reserved ON domains (date_reg) WHERE reserved = 1;

    CREATE TABLE blobs (
      hash TEXT PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      format TEXT NOT NULL,
      mime TEXT NOT NULL,
      size INTEGER NOT NULL,
      width INTEGER NOT NULL,
      height INTEGER NOT NULL,
      frames INTEGER NOT NULL,
      dhash TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE images (
      account_id INTEGER NOT NULL REFERENCES accounts (id),
      hash TEXT NOT NULL REFERENCES blobs (hash),
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      ip TEXT NOT NULL,
      date INTEGER NOT NULL,
      PRIMARY KEY (account_id, hash)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX images_by_date ON images (account_id, date);
    CREATE INDEX images_by_hash ON images (hash);

    -- Blobs that no image holds any more, until their bytes are removed.
    CREATE TABLE blob_trash (
      key TEXT PRIMARY KEY
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE accounts (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      service text COLLATE "C" NOT NULL CHECK (service IN ('domainwatch', 'imagestore')),
      created_at bigint NOT NULL
    );

    CREATE TABLE keys (
      id text COLLATE "C" PRIMARY KEY,
      account_id bigint NOT NULL REFERENCES accounts (id),
      digest text COLLATE "C" NOT NULL UNIQUE,
      created_at bigint NOT NULL,
      revoked_at bigint
    );

    CREATE TABLE domains (
      name text COLLATE "C" PRIMARY KEY,
      ascii text COLLATE "C",
      length integer NOT NULL,
      agent text COLLATE "C" NOT NULL,
      agent_folded text COLLATE "C" NOT NULL,
      status integer NOT NULL,
      reserved integer NOT NULL,
      revision integer NOT NULL DEFAULT 0,
      discarded_at bigint,
      date_reg text COLLATE "C" NOT NULL,
      date_mod text COLLATE "C" NOT NULL,
      released_at text COLLATE "C",
      deleted_at text COLLATE "C" GENERATED ALWAYS AS (CASE WHEN status = 0 THEN COALESCE(released_at, date_reg) END) STORED
    );
    CREATE INDEX domains_by_date ON domains (date_reg, name);
    CREATE INDEX domains_by_status ON domains (status, date_reg, name);
    CREATE INDEX domains_by_deletion ON domains (deleted_at, name) WHERE status = 0;
    CREATE INDEX domains_expiring ON domains (discarded_at) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_discarded ON domains (date_reg, name) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_in_review ON domains (date_reg, name) WHERE revision = 1;
    CREATE INDEX domains_reserved ON domains (date_reg, name) WHERE reserved = 1;

    CREATE TABLE blobs (
      hash text COLLATE "C" PRIMARY KEY,
      key text COLLATE "C" NOT NULL UNIQUE,
      format text COLLATE "C" NOT NULL,
      mime text COLLATE "C" NOT NULL,
      size bigint NOT NULL,
      width integer NOT NULL,
      height integer NOT NULL,
      frames integer NOT NULL,
      dhash text COLLATE "C" NOT NULL
    );

    CREATE TABLE images (
      account_id bigint NOT NULL REFERENCES accounts (id),
      hash text COLLATE "C" NOT NULL REFERENCES blobs (hash),
      name text COLLATE "C" NOT NULL,
      name_folded text COLLATE "C" NOT NULL,
      ip text COLLATE "C" NOT NULL,
      date bigint NOT NULL,
      PRIMARY KEY (account_id, hash)
    );
    CREATE INDEX images_by_date ON images (account_id, date, hash);
    CREATE INDEX images_by_hash ON images (hash);

    -- Blobs that no image holds any more, until their bytes are removed.
    CREATE TABLE blob_trash (
      key text COLLATE "C" PRIMARY KEY
    );
  `,
}
