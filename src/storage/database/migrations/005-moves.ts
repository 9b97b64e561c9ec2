import type { Migration } from './index.ts'

/** Marks of moves and backups that others must heed; `until` is in milliseconds since 1970. */
export const moves: Migration = {
  sqlite: `
    CREATE TABLE moves (
      name TEXT PRIMARY KEY,
      until INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE moves (
      name text COLLATE "C" PRIMARY KEY,
      until bigint NOT NULL
    );
  `,
}
