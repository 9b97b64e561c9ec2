import { sqliteTriggers } from '../domain-changes.ts'
import { DAY, DOMAIN_COLUMNS, IMAGE_COLUMNS, RECOUNT_BLOB, sqliteTables } from './tables.ts'

const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`

const change = (values: string) =>
  `INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (${NOW}, ${values})`

const deliveryChange = (row: 'NEW' | 'OLD') => `
      INSERT INTO changes (at, topic, kind, key, account_id)
      SELECT ${NOW}, 'account', 'changed', name, id FROM accounts WHERE id = ${row}.account_id;`

/** What an image adds to its application's totals, or takes from them. */
const countTotal = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT ${row}.account_id, ${sign}, ${sign} * size FROM blobs WHERE hash = ${row}.hash
      ON CONFLICT DO UPDATE SET images = images + excluded.images, bytes = bytes + excluded.bytes;`

const countUsage = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT ${row}.account_id, ${row}.date / ${DAY}, mime, ${sign}, ${sign} * size FROM blobs WHERE hash = ${row}.hash
      ON CONFLICT DO UPDATE SET images = images + excluded.images, bytes = bytes + excluded.bytes;`

export const sqlite = `${sqliteTables}
    INSERT INTO instance (id) VALUES (lower(hex(randomblob(16))));

    -- Ids grow in the order of commits, because there is one writer. They are never reused, because the newest row stays.
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
    CREATE INDEX changes_of_domains ON changes (key) WHERE topic = 'domain';
    CREATE INDEX changes_of_deletions ON changes (at) WHERE topic = 'domain' AND kind = 'deleted';

    -- Changes up to the floor were removed. The author is the account that writes now, NULL outside transactions.
    CREATE TABLE change_log (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      epoch TEXT NOT NULL,
      floor INTEGER NOT NULL,
      author INTEGER
    ) STRICT;
    INSERT INTO change_log VALUES (1, lower(hex(randomblob(6))), 0, NULL);

    -- The primary key is the last column of every index and breaks ties.
    CREATE INDEX domains_by_date ON domains (date_reg);
    CREATE INDEX domains_by_status ON domains (status, date_reg);
    CREATE INDEX domains_by_deletion ON domains (deleted_at) WHERE deleted_at IS NOT NULL;
    CREATE INDEX domains_discarded ON domains (date_reg) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_in_review ON domains (date_reg) WHERE revision = 1;
    CREATE INDEX domains_reserved ON domains (date_reg) WHERE reserved = 1;
    CREATE INDEX images_by_date ON images (account_id, date);
${sqliteTriggers(DOMAIN_COLUMNS)}
    CREATE TRIGGER claims_of_deleted_domains AFTER DELETE ON domains BEGIN
      DELETE FROM claims WHERE name = OLD.name;
    END;
    CREATE TRIGGER claims_of_deleted_accounts AFTER DELETE ON accounts BEGIN
      DELETE FROM claims WHERE account_id = OLD.id;
    END;

    CREATE TRIGGER images_stored AFTER INSERT ON images BEGIN
      ${change(`'image', 'stored', NEW.hash, NEW.account_id, NULL, json_array(NEW.name, NEW.date)`)};
    END;
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${IMAGE_COLUMNS} ON images BEGIN
      ${change(`'image', 'stored', NEW.hash, NEW.account_id, json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date)`)};
    END;
    CREATE TRIGGER images_deleted AFTER DELETE ON images BEGIN
      ${change(`'image', 'deleted', OLD.hash, OLD.account_id, json_array(OLD.name, OLD.date), NULL`)};
    END;

    CREATE TRIGGER accounts_made AFTER INSERT ON accounts BEGIN
      ${change(`'account', 'made', NEW.name, NEW.id, NULL, json_array(NEW.service)`)};
    END;
    CREATE TRIGGER delivery_made AFTER INSERT ON delivery BEGIN ${deliveryChange('NEW')}
    END;
    CREATE TRIGGER delivery_changed AFTER UPDATE ON delivery BEGIN ${deliveryChange('NEW')}
    END;
    CREATE TRIGGER delivery_deleted AFTER DELETE ON delivery BEGIN ${deliveryChange('OLD')}
    END;

    CREATE TRIGGER keys_made AFTER INSERT ON keys BEGIN
      ${change(`'key', 'made', NEW.id, NEW.account_id, NULL, NULL`)};
    END;
    CREATE TRIGGER keys_revoked AFTER UPDATE ON keys WHEN OLD.revoked_at IS NOT NEW.revoked_at BEGIN
      ${change(`'key', 'revoked', NEW.id, NEW.account_id, NULL, NULL`)};
    END;
    CREATE TRIGGER keys_deleted AFTER DELETE ON keys BEGIN
      ${change(`'key', 'revoked', OLD.id, OLD.account_id, NULL, NULL`)};
    END;
    CREATE TRIGGER administrators_made AFTER INSERT ON administrators BEGIN
      ${change(`'key', 'made', NEW.id, NULL, NULL, NULL`)};
    END;
    CREATE TRIGGER administrators_revoked AFTER UPDATE ON administrators WHEN OLD.revoked_at IS NOT NEW.revoked_at BEGIN
      ${change(`'key', 'revoked', NEW.id, NULL, NULL, NULL`)};
    END;
    CREATE TRIGGER administrators_deleted AFTER DELETE ON administrators BEGIN
      ${change(`'key', 'revoked', OLD.id, NULL, NULL, NULL`)};
    END;

    CREATE TRIGGER images_counted AFTER INSERT ON images BEGIN
      INSERT INTO image_dhashes (account_id, dhash, hash)
        SELECT NEW.account_id, dhash, NEW.hash FROM blobs WHERE hash = NEW.hash;
      ${countTotal('NEW', 1)}
      ${countUsage('NEW', 1)}
    END;
    CREATE TRIGGER images_counted_again AFTER UPDATE OF date ON images
    WHEN OLD.date / ${DAY} <> NEW.date / ${DAY} BEGIN
      ${countUsage('OLD', -1)}
      ${countUsage('NEW', 1)}
    END;
    CREATE TRIGGER images_discounted AFTER DELETE ON images BEGIN
      DELETE FROM image_dhashes WHERE account_id = OLD.account_id AND hash = OLD.hash
        AND dhash = (SELECT dhash FROM blobs WHERE hash = OLD.hash);
      ${countTotal('OLD', -1)}
      ${countUsage('OLD', -1)}
    END;
    CREATE TRIGGER blobs_hashed_again AFTER UPDATE OF dhash ON blobs WHEN OLD.dhash <> NEW.dhash BEGIN
      UPDATE image_dhashes SET dhash = NEW.dhash WHERE dhash = OLD.dhash AND hash = NEW.hash
        AND account_id IN (SELECT account_id FROM images WHERE hash = NEW.hash);
    END;
    CREATE TRIGGER blobs_counted_again AFTER UPDATE OF mime, size ON blobs
    WHEN OLD.mime <> NEW.mime OR OLD.size <> NEW.size BEGIN
      ${RECOUNT_BLOB}
    END;
`
