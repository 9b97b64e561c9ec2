import type { Migration } from './index.ts'

const SQLITE_NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const sqliteChange = (kind: string, row: string) =>
  `INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (${SQLITE_NOW}, 'key', '${kind}', ${row}.id, NULL, NULL, NULL)`

/**
 * Keys of the service `admin`. They stand apart from `accounts`, whose services the first step fixed: a step only adds, and an
 * older node, which knows nothing of them, refuses them as unknown. `key_uses` tells when a key of any kind was last used, in
 * milliseconds since 1970, to within some minutes.
 */
export const administrators: Migration = {
  sqlite: `
    CREATE TABLE administrators (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      created_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER administrators_made AFTER INSERT ON administrators BEGIN
      ${sqliteChange('made', 'NEW')};
    END;
    CREATE TRIGGER administrators_revoked AFTER UPDATE ON administrators WHEN OLD.revoked_at IS NOT NEW.revoked_at BEGIN
      ${sqliteChange('revoked', 'NEW')};
    END;
    CREATE TRIGGER administrators_deleted AFTER DELETE ON administrators BEGIN
      ${sqliteChange('revoked', 'OLD')};
    END;

    CREATE TABLE key_uses (
      id TEXT PRIMARY KEY,
      used_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
  postgres: `
    CREATE TABLE administrators (
      id text COLLATE "C" PRIMARY KEY,
      name text COLLATE "C" NOT NULL,
      digest text COLLATE "C" NOT NULL UNIQUE,
      created_at bigint NOT NULL,
      revoked_at bigint
    );
    CREATE FUNCTION catalejo_administrators_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key) VALUES ('key', 'made', NEW.id);
      ELSE
        INSERT INTO changes (topic, kind, key) VALUES ('key', 'revoked', OLD.id);
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER administrators_made AFTER INSERT OR DELETE ON administrators
      FOR EACH ROW EXECUTE FUNCTION catalejo_administrators_changed();
    CREATE TRIGGER administrators_revoked AFTER UPDATE ON administrators
      FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION catalejo_administrators_changed();

    CREATE TABLE key_uses (
      id text COLLATE "C" PRIMARY KEY,
      used_at bigint NOT NULL
    );
  `,
}
