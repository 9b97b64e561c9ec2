import type { Migration } from './index.ts'

/** Seconds of a day: `date` counts seconds, in UTC. */
const DAY = 86_400

/** What the images with these bytes add to their applications' counts, or take from them. Both engines speak it. */
const usage = (row: 'NEW' | 'OLD', sign: 1 | -1) => `
      INSERT INTO image_usage (account_id, day, mime, images, bytes)
      SELECT account_id, date / ${DAY}, ${row}.mime, ${sign} * count(*), ${sign} * count(*) * ${row}.size
      FROM images WHERE hash = ${row}.hash GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (account_id, day, mime) DO UPDATE
        SET images = image_usage.images + excluded.images, bytes = image_usage.bytes + excluded.bytes;`

const COUNTED_AGAIN = `
      INSERT INTO image_totals (account_id, images, bytes)
      SELECT account_id, 0, NEW.size - OLD.size FROM images WHERE hash = NEW.hash ORDER BY 1
      ON CONFLICT (account_id) DO UPDATE SET bytes = image_totals.bytes + excluded.bytes;
      ${usage('OLD', -1)}
      ${usage('NEW', 1)}`

/** All columns that an update can change but `ip`: erasing an address is not a change of the image. */
const TOLD = 'name, name_folded, date, expires'

/**
 * Triggers follow from the columns that a statement sets. An update that empties `ip` and sets a name or an end too is a
 * change like any other, and bytes that are replaced by others of another kind or size are counted as what they are.
 */
export const imageTriggers: Migration = {
  sqlite: `
    DROP TRIGGER images_stored_again;
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${TOLD} ON images BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (
        CAST(unixepoch('subsec') * 1000 AS INTEGER), 'image', 'stored', NEW.hash, NEW.account_id,
        json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date));
    END;

    CREATE TRIGGER blobs_counted_again AFTER UPDATE OF mime, size ON blobs
    WHEN OLD.mime <> NEW.mime OR OLD.size <> NEW.size BEGIN
      ${COUNTED_AGAIN}
    END;
  `,
  postgres: `
    -- The sweep of changes finds those that are not history without going through all of that, as on SQLite.
    CREATE INDEX changes_but_domains ON changes (id) WHERE topic <> 'domain';

    -- A trigger that is replaced would lock out readers; its function is replaced instead, and another trigger added.
    CREATE OR REPLACE FUNCTION catalejo_images_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN
        INSERT INTO changes (topic, kind, key, account_id, before)
        VALUES ('image', 'deleted', OLD.hash, OLD.account_id, json_build_array(OLD.name, OLD.date)::text);
      ELSIF TG_OP = 'INSERT' THEN
        INSERT INTO changes (topic, kind, key, account_id, after)
        VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(NEW.name, NEW.date)::text);
      END IF;
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_images_stored_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      VALUES ('image', 'stored', NEW.hash, NEW.account_id, json_build_array(OLD.name, OLD.date)::text,
        json_build_array(NEW.name, NEW.date)::text);
      RETURN NULL;
    END $$;
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${TOLD} ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_stored_again();

    CREATE FUNCTION catalejo_blobs_counted_again() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${COUNTED_AGAIN}
      RETURN NULL;
    END $$;
    CREATE TRIGGER blobs_counted_again AFTER UPDATE OF mime, size ON blobs
      FOR EACH ROW WHEN (OLD.mime <> NEW.mime OR OLD.size <> NEW.size) EXECUTE FUNCTION catalejo_blobs_counted_again();
  `,
}
