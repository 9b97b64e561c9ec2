import type { Migration } from './index.ts'

/** What tells this database from every other: a store of images names it as its owner. It goes where the data goes. */
export const instance: Migration = {
  sqlite: `
    CREATE TABLE instance (
      only_row INTEGER PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
      id TEXT NOT NULL
    ) STRICT;
    INSERT INTO instance (id) VALUES (lower(hex(randomblob(16))));
  `,
  postgres: `
    CREATE TABLE instance (
      only_row integer PRIMARY KEY DEFAULT 1 CHECK (only_row = 1),
      id text COLLATE "C" NOT NULL
    );
    INSERT INTO instance (id) VALUES (replace(gen_random_uuid()::text, '-', ''));
  `,
}
