import type { Migration } from './index.ts'

/**
 * A record's history: its changes, found by its name, and the name servers that were seen of it. `servers` is a JSON array
 * of host names, NULL where the DNS said that there is no such name. Moments are milliseconds since 1970.
 */
export const history: Migration = {
  sqlite: `
    -- Its rows end in the changes' ids, so a name's are in their order.
    CREATE INDEX changes_of_domains ON changes (key) WHERE topic = 'domain';
    CREATE INDEX changes_of_deletions ON changes (at) WHERE topic = 'domain' AND kind = 'deleted';

    CREATE TABLE name_servers (
      name TEXT NOT NULL,
      first_at INTEGER NOT NULL,
      last_at INTEGER NOT NULL,
      servers TEXT,
      PRIMARY KEY (name, first_at)
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE INDEX changes_of_domains ON changes (key, id) WHERE topic = 'domain';
    CREATE INDEX changes_of_deletions ON changes (at) WHERE topic = 'domain' AND kind = 'deleted';

    CREATE TABLE name_servers (
      name text COLLATE "C" NOT NULL,
      first_at bigint NOT NULL,
      last_at bigint NOT NULL,
      servers text COLLATE "C",
      PRIMARY KEY (name, first_at)
    );
  `,
}
