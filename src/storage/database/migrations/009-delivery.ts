import type { Migration } from './index.ts'

/**
 * How an application lets its images be asked for. Without a row: open. Apart from the accounts, since most never have one.
 * The secret is kept as it is: who checks a signature must be able to make it.
 */
export const delivery: Migration = {
  sqlite: `
    CREATE TABLE delivery (
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      mode TEXT NOT NULL CHECK (mode IN ('open', 'ladder', 'presets', 'signed')),
      secret TEXT
    ) STRICT;

    CREATE TRIGGER delivery_made AFTER INSERT ON delivery BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id)
      SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), 'account', 'changed', name, id FROM accounts WHERE id = NEW.account_id;
    END;
    CREATE TRIGGER delivery_changed AFTER UPDATE ON delivery BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id)
      SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), 'account', 'changed', name, id FROM accounts WHERE id = NEW.account_id;
    END;
    CREATE TRIGGER delivery_deleted AFTER DELETE ON delivery BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id)
      SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), 'account', 'changed', name, id FROM accounts WHERE id = OLD.account_id;
    END;
  `,
  postgres: `
    CREATE TABLE delivery (
      account_id bigint PRIMARY KEY REFERENCES accounts (id),
      mode text COLLATE "C" NOT NULL CHECK (mode IN ('open', 'ladder', 'presets', 'signed')),
      secret text COLLATE "C"
    );

    CREATE FUNCTION catalejo_delivery_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id)
      SELECT 'account', 'changed', name, id FROM accounts
      WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.account_id ELSE NEW.account_id END;
      RETURN NULL;
    END $$;
    CREATE TRIGGER delivery_changed AFTER INSERT OR UPDATE OR DELETE ON delivery
      FOR EACH ROW EXECUTE FUNCTION catalejo_delivery_changed();
  `,
}
