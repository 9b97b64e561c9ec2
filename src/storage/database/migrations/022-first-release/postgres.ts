import { postgresTriggers } from '../domain-changes.ts'
import { DAY, DOMAIN_COLUMNS, IMAGE_COLUMNS, RECOUNT_BLOB, postgresTables } from './tables.ts'

/** Updates counts for all images of a statement at once and in one order, so that concurrent statements do not deadlock. */
const countTotals = (rows: string, sign: 1 | -1) => `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, ${sign} * count(*), ${sign} * sum(size) FROM ${rows} AS image JOIN blobs USING (hash)
      GROUP BY account_id ORDER BY account_id
      ON CONFLICT (account_id) DO UPDATE
        SET images = image_totals.images + excluded.images, bytes = image_totals.bytes + excluded.bytes;`

const countUsage = (signedRows: string) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, mime, sum(sign), sum(sign * size) FROM (${signedRows}) AS image JOIN blobs USING (hash)
      GROUP BY 1, 2, 3 HAVING sum(sign) <> 0 ORDER BY 1, 2, 3
      ON CONFLICT (account_id, day, mime) DO UPDATE
        SET images = image_usage.images + excluded.images, bytes = image_usage.bytes + excluded.bytes;`

const signed = (rows: string, sign: 1 | -1) => `SELECT account_id, hash, date, ${sign} AS sign FROM ${rows}`

const triggerFunction = (name: string, body: string) =>
  `CREATE FUNCTION catalejo_${name}() RETURNS trigger LANGUAGE plpgsql AS $$${body}
      RETURN NULL;
    END $$;`

export const postgres = `${postgresTables}
    INSERT INTO instance (id) VALUES (replace(gen_random_uuid()::text, '-', ''));

    -- Ids are drawn while the changed row is locked, so the changes of one record are in order, but concurrent transactions
    -- become visible in any order. tx tells which changes a snapshot has seen.
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
    CREATE INDEX changes_but_domains ON changes (id) WHERE topic <> 'domain';
    CREATE INDEX changes_of_domains ON changes (key, id) WHERE topic = 'domain';
    CREATE INDEX changes_of_deletions ON changes (at) WHERE topic = 'domain' AND kind = 'deleted';
    CREATE INDEX changes_of_images ON changes (id) WHERE topic = 'image';

    -- Changes up to the floor were removed.
    CREATE TABLE change_log (
      only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
      epoch text NOT NULL,
      floor bigint NOT NULL
    );
    INSERT INTO change_log (epoch, floor)
    VALUES (left(md5(random()::text || clock_timestamp()::text), 12), 0);

    CREATE INDEX domains_by_date ON domains (date_reg, name);
    CREATE INDEX domains_by_status ON domains (status, date_reg, name);
    CREATE INDEX domains_by_deletion ON domains (deleted_at, name) WHERE status = 0;
    CREATE INDEX domains_discarded ON domains (date_reg, name) WHERE discarded_at IS NOT NULL;
    CREATE INDEX domains_in_review ON domains (date_reg, name) WHERE revision = 1;
    CREATE INDEX domains_reserved ON domains (date_reg, name) WHERE reserved = 1;
    CREATE INDEX images_by_date ON images (account_id, date, hash);

    CREATE FUNCTION catalejo_author() RETURNS bigint LANGUAGE sql STABLE AS
      $$ SELECT NULLIF(current_setting('catalejo.account', true), '')::bigint $$;
${postgresTriggers(DOMAIN_COLUMNS)}
    -- A claim then changes a row within its page, where there is room for the new version, and touches no index.
    ALTER TABLE claims SET (fillfactor = 40);
    ${triggerFunction(
      'domains_unclaimed',
      `
    BEGIN
      DELETE FROM claims WHERE name IN (SELECT name FROM was);`,
    )}
    ${triggerFunction(
      'accounts_unclaimed',
      `
    BEGIN
      DELETE FROM claims WHERE account_id = OLD.id;`,
    )}
    ${triggerFunction(
      'images_changed',
      `
    BEGIN
      IF TG_OP = 'DELETE' THEN
        INSERT INTO changes (topic, kind, key, account_id, before)
        VALUES ('image', 'deleted', OLD.hash, OLD.account_id, json_build_array(OLD.name, OLD.date)::text);
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(NEW.name, NEW.date)::text);
      END IF;`,
    )}
    ${triggerFunction(
      'images_stored_again',
      `
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(OLD.name, OLD.date)::text,
        json_build_array(NEW.name, NEW.date)::text);`,
    )}
    ${triggerFunction(
      'accounts_made',
      `
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, after)
      VALUES ('account', 'made', NEW.name, NEW.id, json_build_array(NEW.service)::text);`,
    )}
    ${triggerFunction(
      'delivery_changed',
      `
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id)
      SELECT 'account', 'changed', name, id FROM accounts
      WHERE id = CASE TG_OP WHEN 'DELETE' THEN OLD.account_id ELSE NEW.account_id END;`,
    )}
    ${triggerFunction(
      'keys_changed',
      `
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id) VALUES ('key', 'made', NEW.id, NEW.account_id);
      ELSE
        INSERT INTO changes (topic, kind, key, account_id) VALUES ('key', 'revoked', OLD.id, OLD.account_id);
      END IF;`,
    )}
    ${triggerFunction(
      'administrators_changed',
      `
    BEGIN
      IF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key) VALUES ('key', 'made', NEW.id);
      ELSE
        INSERT INTO changes (topic, kind, key) VALUES ('key', 'revoked', OLD.id);
      END IF;`,
    )}

    ${triggerFunction(
      'images_counted',
      `
    BEGIN
      ${countTotals('added', 1)}
      ${countUsage(signed('added', 1))}
      INSERT INTO image_dhashes (account_id, dhash, hash)
        SELECT account_id, dhash, hash FROM added JOIN blobs USING (hash);`,
    )}
    ${triggerFunction(
      'images_counted_again',
      `
    BEGIN
      ${countUsage(`${signed('was', -1)} UNION ALL ${signed('now_is', 1)}`)}`,
    )}
    ${triggerFunction(
      'images_discounted',
      `
    BEGIN
      ${countTotals('removed', -1)}
      ${countUsage(signed('removed', -1))}
      DELETE FROM image_dhashes USING removed JOIN blobs USING (hash)
        WHERE image_dhashes.account_id = removed.account_id AND image_dhashes.dhash = blobs.dhash
          AND image_dhashes.hash = removed.hash;`,
    )}
    ${triggerFunction(
      'blobs_hashed_again',
      `
    BEGIN
      UPDATE image_dhashes SET dhash = NEW.dhash WHERE dhash = OLD.dhash AND hash = NEW.hash
        AND account_id IN (SELECT account_id FROM images WHERE hash = NEW.hash);`,
    )}
    ${triggerFunction(
      'blobs_counted_again',
      `
    BEGIN
      ${RECOUNT_BLOB}`,
    )}

    CREATE TRIGGER domains_added AFTER INSERT ON domains
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_added();
    CREATE TRIGGER domains_changed AFTER UPDATE ON domains
      REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_changed();
    CREATE TRIGGER domains_deleted AFTER DELETE ON domains
      REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_deleted();
    CREATE TRIGGER claims_of_deleted_domains AFTER DELETE ON domains
      REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_unclaimed();
    CREATE TRIGGER claims_of_deleted_accounts AFTER DELETE ON accounts
      FOR EACH ROW EXECUTE FUNCTION catalejo_accounts_unclaimed();
    CREATE TRIGGER images_changed AFTER INSERT OR UPDATE OR DELETE ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_changed();
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${IMAGE_COLUMNS} ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_stored_again();
    CREATE TRIGGER accounts_made AFTER INSERT ON accounts
      FOR EACH ROW EXECUTE FUNCTION catalejo_accounts_made();
    CREATE TRIGGER delivery_changed AFTER INSERT OR UPDATE OR DELETE ON delivery
      FOR EACH ROW EXECUTE FUNCTION catalejo_delivery_changed();
    CREATE TRIGGER keys_made AFTER INSERT OR DELETE ON keys
      FOR EACH ROW EXECUTE FUNCTION catalejo_keys_changed();
    CREATE TRIGGER keys_revoked AFTER UPDATE ON keys
      FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION catalejo_keys_changed();
    CREATE TRIGGER administrators_made AFTER INSERT OR DELETE ON administrators
      FOR EACH ROW EXECUTE FUNCTION catalejo_administrators_changed();
    CREATE TRIGGER administrators_revoked AFTER UPDATE ON administrators
      FOR EACH ROW WHEN (OLD.revoked_at IS DISTINCT FROM NEW.revoked_at) EXECUTE FUNCTION catalejo_administrators_changed();
    CREATE TRIGGER images_counted AFTER INSERT ON images
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_counted();
    CREATE TRIGGER images_counted_again AFTER UPDATE ON images
      REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_counted_again();
    CREATE TRIGGER images_discounted AFTER DELETE ON images
      REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_discounted();
    CREATE TRIGGER blobs_hashed_again AFTER UPDATE OF dhash ON blobs
      FOR EACH ROW WHEN (OLD.dhash <> NEW.dhash) EXECUTE FUNCTION catalejo_blobs_hashed_again();
    CREATE TRIGGER blobs_counted_again AFTER UPDATE OF mime, size ON blobs
      FOR EACH ROW WHEN (OLD.mime <> NEW.mime OR OLD.size <> NEW.size) EXECUTE FUNCTION catalejo_blobs_counted_again();
`
