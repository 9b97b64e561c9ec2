import type { Migration } from './index.ts'

/** Seconds of a day: `date` counts seconds, in UTC. */
const DAY = 86_400

/** What an image adds to the counts of its application, or takes from them. */
const sqliteCount = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT ${row}.account_id, ${row}.date / ${DAY}, mime, ${sign}, ${sign} * size FROM blobs WHERE hash = ${row}.hash
      ON CONFLICT DO UPDATE SET images = images + excluded.images, bytes = bytes + excluded.bytes;`

const sqliteTotal = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT ${row}.account_id, ${sign}, ${sign} * size FROM blobs WHERE hash = ${row}.hash
      ON CONFLICT DO UPDATE SET images = images + excluded.images, bytes = bytes + excluded.bytes;`

/** The same for all images of a statement: whoever writes several takes the counts' locks in one order. */
const postgresTotal = (rows: string, sign: 1 | -1) => `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, ${sign} * count(*), ${sign} * sum(size) FROM ${rows} AS image JOIN blobs USING (hash)
      GROUP BY account_id ORDER BY account_id
      ON CONFLICT (account_id) DO UPDATE
        SET images = image_totals.images + excluded.images, bytes = image_totals.bytes + excluded.bytes;`

const postgresCount = (signedRows: string) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, mime, sum(sign), sum(sign * size) FROM (${signedRows}) AS image JOIN blobs USING (hash)
      GROUP BY 1, 2, 3 HAVING sum(sign) <> 0 ORDER BY 1, 2, 3
      ON CONFLICT (account_id, day, mime) DO UPDATE
        SET images = image_usage.images + excluded.images, bytes = image_usage.bytes + excluded.bytes;`

const signed = (rows: string, sign: 1 | -1) => `SELECT account_id, hash, date, ${sign} AS sign FROM ${rows}`

/** Counts of what is there already. Both engines speak it. */
const BACKFILL = `
    INSERT INTO image_dhashes (account_id, dhash, hash)
      SELECT account_id, dhash, images.hash FROM images JOIN blobs ON blobs.hash = images.hash;
    INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, mime, count(*), sum(size)
      FROM images JOIN blobs ON blobs.hash = images.hash GROUP BY account_id, date / ${DAY}, mime;
    INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, sum(images), sum(bytes) FROM image_usage GROUP BY account_id;`

/**
 * Quotas, lifetimes and near-duplicates. What follows from the images is kept by triggers, so that nodes of an older
 * version keep it too, and is exact in every transaction.
 */
export const images: Migration = {
  sqlite: `
    ALTER TABLE blobs ADD COLUMN thumbhash TEXT;
    -- Seconds since 1970 from which on the image is gone; NULL for never.
    ALTER TABLE images ADD COLUMN expires INTEGER;
    CREATE INDEX images_expiring ON images (expires) WHERE expires IS NOT NULL;
    -- An address that was erased is ''.
    CREATE INDEX images_with_address ON images (date) WHERE ip <> '';

    -- What an application may hold; without a row, or with NULL, there is no bound.
    CREATE TABLE image_limits (
      account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
      max_bytes INTEGER,
      max_images INTEGER
    ) STRICT;

    -- The images of an application by picture.
    CREATE TABLE image_dhashes (
      account_id INTEGER NOT NULL,
      dhash TEXT NOT NULL,
      hash TEXT NOT NULL,
      PRIMARY KEY (account_id, dhash, hash)
    ) STRICT, WITHOUT ROWID;

    -- What an application holds, those included that expired and were not removed yet. A day counts from 1970, in UTC.
    CREATE TABLE image_totals (
      account_id INTEGER PRIMARY KEY,
      images INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE image_usage (
      account_id INTEGER NOT NULL,
      day INTEGER NOT NULL,
      mime TEXT NOT NULL,
      images INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (account_id, day, mime)
    ) STRICT, WITHOUT ROWID;

    CREATE TRIGGER images_counted AFTER INSERT ON images BEGIN
      INSERT INTO image_dhashes (account_id, dhash, hash)
        SELECT NEW.account_id, dhash, NEW.hash FROM blobs WHERE hash = NEW.hash;
      ${sqliteTotal('NEW', 1)}
      ${sqliteCount('NEW', 1)}
    END;
    CREATE TRIGGER images_counted_again AFTER UPDATE OF date ON images
    WHEN OLD.date / ${DAY} <> NEW.date / ${DAY} BEGIN
      ${sqliteCount('OLD', -1)}
      ${sqliteCount('NEW', 1)}
    END;
    CREATE TRIGGER images_discounted AFTER DELETE ON images BEGIN
      DELETE FROM image_dhashes WHERE account_id = OLD.account_id AND hash = OLD.hash
        AND dhash = (SELECT dhash FROM blobs WHERE hash = OLD.hash);
      ${sqliteTotal('OLD', -1)}
      ${sqliteCount('OLD', -1)}
    END;
    CREATE TRIGGER blobs_hashed_again AFTER UPDATE OF dhash ON blobs WHEN OLD.dhash <> NEW.dhash BEGIN
      UPDATE image_dhashes SET dhash = NEW.dhash WHERE dhash = OLD.dhash AND hash = NEW.hash
        AND account_id IN (SELECT account_id FROM images WHERE hash = NEW.hash);
    END;

    -- That an address was erased is nobody's news.
    DROP TRIGGER images_stored_again;
    CREATE TRIGGER images_stored_again AFTER UPDATE ON images WHEN NEW.ip <> '' OR OLD.ip = '' BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (
        CAST(unixepoch('subsec') * 1000 AS INTEGER), 'image', 'stored', NEW.hash, NEW.account_id,
        json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date));
    END;
    ${BACKFILL}
  `,
  postgres: `
    ALTER TABLE blobs ADD COLUMN thumbhash text COLLATE "C";
    ALTER TABLE images ADD COLUMN expires bigint;
    CREATE INDEX images_expiring ON images (expires) WHERE expires IS NOT NULL;
    CREATE INDEX images_with_address ON images (date) WHERE ip <> '';
    -- Who looks for near-duplicates reads what was stored since his last look.
    CREATE INDEX changes_of_images ON changes (id) WHERE topic = 'image';

    CREATE TABLE image_limits (
      account_id bigint PRIMARY KEY REFERENCES accounts (id),
      max_bytes bigint,
      max_images bigint
    );
    CREATE TABLE image_dhashes (
      account_id bigint NOT NULL,
      dhash text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      PRIMARY KEY (account_id, dhash, hash)
    );
    CREATE TABLE image_totals (
      account_id bigint PRIMARY KEY,
      images bigint NOT NULL,
      bytes bigint NOT NULL
    );
    CREATE TABLE image_usage (
      account_id bigint NOT NULL,
      day bigint NOT NULL,
      mime text COLLATE "C" NOT NULL,
      images bigint NOT NULL,
      bytes bigint NOT NULL,
      PRIMARY KEY (account_id, day, mime)
    );

    CREATE FUNCTION catalejo_images_counted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${postgresTotal('added', 1)}
      ${postgresCount(signed('added', 1))}
      INSERT INTO image_dhashes (account_id, dhash, hash)
        SELECT account_id, dhash, hash FROM added JOIN blobs USING (hash);
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_images_counted_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${postgresCount(`${signed('was', -1)} UNION ALL ${signed('now_is', 1)}`)}
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_images_discounted() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${postgresTotal('removed', -1)}
      ${postgresCount(signed('removed', -1))}
      DELETE FROM image_dhashes USING removed JOIN blobs USING (hash)
        WHERE image_dhashes.account_id = removed.account_id AND image_dhashes.dhash = blobs.dhash
          AND image_dhashes.hash = removed.hash;
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_blobs_hashed_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE image_dhashes SET dhash = NEW.dhash WHERE dhash = OLD.dhash AND hash = NEW.hash
        AND account_id IN (SELECT account_id FROM images WHERE hash = NEW.hash);
      RETURN NULL;
    END $$;

    CREATE TRIGGER images_counted AFTER INSERT ON images
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_counted();
    CREATE TRIGGER images_counted_again AFTER UPDATE ON images
      REFERENCING OLD TABLE AS was NEW TABLE AS now_is FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_counted_again();
    CREATE TRIGGER images_discounted AFTER DELETE ON images
      REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION catalejo_images_discounted();
    CREATE TRIGGER blobs_hashed_again AFTER UPDATE OF dhash ON blobs
      FOR EACH ROW WHEN (OLD.dhash <> NEW.dhash) EXECUTE FUNCTION catalejo_blobs_hashed_again();

    CREATE OR REPLACE FUNCTION catalejo_images_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN
        INSERT INTO changes (topic, kind, key, account_id, before)
        VALUES ('image', 'deleted', OLD.hash, OLD.account_id, json_build_array(OLD.name, OLD.date)::text);
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(NEW.name, NEW.date)::text);
      -- That an address was erased is nobody's news.
      ELSIF NEW.ip <> '' OR OLD.ip = '' THEN
        INSERT INTO changes (topic, kind, key, account_id, before, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(OLD.name, OLD.date)::text,
          json_build_array(NEW.name, NEW.date)::text);
      END IF;
      RETURN NULL;
    END $$;
    ${BACKFILL}
  `,
}
