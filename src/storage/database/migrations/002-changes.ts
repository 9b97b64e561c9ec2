import type { Migration } from './index.ts'

/** A domain's columns as a change keeps them, in the order of `DOMAIN_FIELDS`. */
const domain = (row: string): string =>
  ['agent', 'status', 'reserved', 'revision', 'discarded_at', 'date_reg', 'date_mod', 'released_at']
    .map((column) => `${row}.${column}`)
    .join(', ')

const SQLITE_NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

/** What an INSERT into `changes` finds in a trigger, for each row at once. */
const sqliteChange = (values: string) => `${SQLITE_CHANGES} VALUES (${SQLITE_NOW}, ${values})`
const SQLITE_CHANGES = 'INSERT INTO changes (at, topic, kind, key, account_id, before, after)'

const SQLITE_ADDED = `'domain', 'added', NEW.name, (SELECT author FROM change_log), NULL, json_array(${domain('NEW')})`

/** What leaves the change of a new domain, and a statement that leaves those of many: `?1` is a JSON array of their names. */
export const sqliteDomainsAdded = {
  trigger: 'domains_added',
  text: `CREATE TRIGGER domains_added AFTER INSERT ON domains BEGIN
      ${sqliteChange(SQLITE_ADDED)};
    END`,
  forMany: `${SQLITE_CHANGES.replace('INSERT', 'INSERT OR ROLLBACK')} SELECT ${SQLITE_NOW}, ${SQLITE_ADDED}
    FROM json_each(?1) AS item CROSS JOIN domains AS NEW WHERE NEW.name = item.value`,
} as const

/**
 * Triggers write the changes, so that a node of an older version and a person with a shell leave theirs too. Nothing here
 * is left to the writers but the account on whose behalf they write.
 */
export const changes: Migration = {
  sqlite: `
    -- Ids grow in the order of commits, as there is one writer. They never come again, because the newest row stays.
    CREATE TABLE changes (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      topic TEXT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      account_id INTEGER,
      before TEXT,
      after TEXT
    ) STRICT;
    CREATE INDEX changes_but_domains ON changes (topic) WHERE topic <> 'domain';

    -- Changes up to the floor are gone. The author is who writes now; it is NULL outside transactions.
    CREATE TABLE change_log (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      epoch TEXT NOT NULL,
      floor INTEGER NOT NULL,
      author INTEGER
    ) STRICT;
    INSERT INTO change_log VALUES (1, lower(hex(randomblob(6))), 0, NULL);

    ${sqliteDomainsAdded.text};
    CREATE TRIGGER domains_changed AFTER UPDATE ON domains
    WHEN (${domain('OLD')}) IS NOT (${domain('NEW')}) BEGIN
      ${sqliteChange(`'domain', CASE WHEN OLD.discarded_at IS NULL AND NEW.discarded_at IS NOT NULL THEN 'discarded' ELSE 'changed' END,
        NEW.name, (SELECT author FROM change_log), json_array(${domain('OLD')}), json_array(${domain('NEW')})`)};
    END;
    -- What is discarded goes because its days are over, whoever is writing when it is noticed.
    CREATE TRIGGER domains_deleted AFTER DELETE ON domains BEGIN
      ${sqliteChange(`'domain', 'deleted', OLD.name, CASE WHEN OLD.discarded_at IS NULL THEN (SELECT author FROM change_log) END,
        json_array(${domain('OLD')}), NULL`)};
    END;

    CREATE TRIGGER images_stored AFTER INSERT ON images BEGIN
      ${sqliteChange(`'image', 'stored', NEW.hash, NEW.account_id, NULL, json_array(NEW.name, NEW.date)`)};
    END;
    CREATE TRIGGER images_stored_again AFTER UPDATE ON images BEGIN
      ${sqliteChange(`'image', 'stored', NEW.hash, NEW.account_id, json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date)`)};
    END;
    CREATE TRIGGER images_deleted AFTER DELETE ON images BEGIN
      ${sqliteChange(`'image', 'deleted', OLD.hash, OLD.account_id, json_array(OLD.name, OLD.date), NULL`)};
    END;

    CREATE TRIGGER accounts_made AFTER INSERT ON accounts BEGIN
      ${sqliteChange(`'account', 'made', NEW.name, NEW.id, NULL, json_array(NEW.service)`)};
    END;
    CREATE TRIGGER keys_made AFTER INSERT ON keys BEGIN
      ${sqliteChange(`'key', 'made', NEW.id, NEW.account_id, NULL, NULL`)};
    END;
    CREATE TRIGGER keys_revoked AFTER UPDATE ON keys WHEN OLD.revoked_at IS NOT NEW.revoked_at BEGIN
      ${sqliteChange(`'key', 'revoked', NEW.id, NEW.account_id, NULL, NULL`)};
    END;
    CREATE TRIGGER keys_deleted AFTER DELETE ON keys BEGIN
      ${sqliteChange(`'key', 'revoked', OLD.id, OLD.account_id, NULL, NULL`)};
    END;
  `,
  postgres: `
    -- Ids are drawn while the changed row is locked, so the changes of one record are in order; but transactions that run
    -- side by side show theirs in any order. The transaction tells which of them somebody has seen.
    CREATE TABLE changes (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
      at bigint NOT NULL DEFAULT (extract(epoch FROM now()) * 1000)::bigint,
      topic text COLLATE "C" NOT NULL,
      kind text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      account_id bigint,
      before text COLLATE "C",
      after text COLLATE "C"
    );
    CREATE INDEX changes_by_transaction ON changes (tx);

    -- Changes up to the floor are gone.
    CREATE TABLE change_log (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      epoch text NOT NULL,
      floor bigint NOT NULL
    );
    INSERT INTO change_log (epoch, floor)
    VALUES (left(md5(random()::text || clock_timestamp()::text), 12), 0);

    CREATE FUNCTION catalejo_author() RETURNS bigint LANGUAGE sql STABLE AS
      $$ SELECT NULLIF(current_setting('catalejo.account', true), '')::bigint $$;

    CREATE FUNCTION catalejo_domains_added() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE author bigint := catalejo_author();
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, after)
      SELECT 'domain', 'added', new_row.name, author, json_build_array(${domain('new_row')})::text FROM added AS new_row;
      RETURN NULL;
    END $$;
    -- The plan is made once, perhaps for a single row: with a nested loop 50,000 would be matched against each other.
    CREATE FUNCTION catalejo_domains_changed() RETURNS trigger LANGUAGE plpgsql SET enable_nestloop = off AS $$
    DECLARE author bigint := catalejo_author();
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      SELECT 'domain',
        CASE WHEN old_row.discarded_at IS NULL AND new_row.discarded_at IS NOT NULL THEN 'discarded' ELSE 'changed' END,
        new_row.name, author, json_build_array(${domain('old_row')})::text, json_build_array(${domain('new_row')})::text
      FROM was AS old_row JOIN now_is AS new_row ON old_row.name = new_row.name
      WHERE (${domain('old_row')}) IS DISTINCT FROM (${domain('new_row')});
      RETURN NULL;
    END $$;
    -- What is discarded goes because its days are over, whoever is writing when it is noticed.
    CREATE FUNCTION catalejo_domains_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE author bigint := catalejo_author();
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, before)
      SELECT 'domain', 'deleted', old_row.name, CASE WHEN old_row.discarded_at IS NULL THEN author END,
        json_build_array(${domain('old_row')})::text
      FROM was AS old_row;
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_images_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN
        INSERT INTO changes (topic, kind, key, account_id, before)
        VALUES ('image', 'deleted', OLD.hash, OLD.account_id, json_build_array(OLD.name, OLD.date)::text);
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(NEW.name, NEW.date)::text);
      ELSE
        INSERT INTO changes (topic, kind, key, account_id, before, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(OLD.name, OLD.date)::text,
          json_build_array(NEW.name, NEW.date)::text);
      END IF;
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_accounts_made() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, after)
      VALUES ('account', 'made', NEW.name, NEW.id, json_build_array(NEW.service)::text);
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id) VALUES ('key', 'made', NEW.id, NEW.account_id);
      ELSE
        INSERT INTO changes (topic, kind, key, account_id) VALUES ('key', 'revoked', OLD.id, OLD.account_id);
      END IF;
      RETURN NULL;
    END $$;

    CREATE TRIGGER domains_added AFTER INSERT ON domains
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_added();
    CREATE TRIGGER domains_changed AFTER UPDATE ON domains
      REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_changed();
    CREATE TRIGGER domains_deleted AFTER DELETE ON domains
      REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_deleted();
    CREATE TRIGGER images_changed AFTER INSERT OR UPDATE OR DELETE ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_changed();
    CREATE TRIGGER accounts_made AFTER INSERT ON accounts
      FOR EACH ROW EXECUTE FUNCTION catalejo_accounts_made();
    CREATE TRIGGER keys_made AFTER INSERT OR DELETE ON keys
      FOR EACH ROW EXECUTE FUNCTION catalejo_keys_changed();
    CREATE TRIGGER keys_revoked AFTER UPDATE ON keys
      FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION catalejo_keys_changed();
  `,
}
