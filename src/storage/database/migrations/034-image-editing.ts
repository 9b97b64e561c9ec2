/** Every column of an image that an update can change, except `ip` and `bytes`: those are no change of the image. */
const IMAGE_COLUMNS = 'name, name_folded, date, expires, tags, meta, focus, public'

const columns = (text: string, integer: string, options: string) => `
    ALTER TABLE blobs ADD COLUMN color ${text};
    ALTER TABLE images ADD COLUMN tags ${text} NOT NULL DEFAULT '[]';
    ALTER TABLE images ADD COLUMN meta ${text} NOT NULL DEFAULT '{}';
    ALTER TABLE images ADD COLUMN focus ${text};
    ALTER TABLE images ADD COLUMN public ${integer} NOT NULL DEFAULT 1;
    ALTER TABLE images ADD COLUMN bytes ${integer};
    CREATE TABLE image_tags (
      account_id ${integer} NOT NULL,
      tag ${text} NOT NULL,
      hash ${text} NOT NULL,
      PRIMARY KEY (account_id, tag, hash),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) ${options};
    CREATE INDEX image_tags_by_image ON image_tags (account_id, hash);
`

const fill = `
    UPDATE images SET bytes = (SELECT size FROM blobs WHERE blobs.hash = images.hash);
`

/** PostgreSQL refuses long keys of indexes, so that names are sorted by their beginning. */
const indexes = `
    CREATE INDEX images_by_name ON images (account_id, substr(name_folded, 1, 100), hash);
    CREATE INDEX images_by_bytes ON images (account_id, bytes, hash);
`

const sqliteChange = `INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), 'image', 'stored', NEW.hash, NEW.account_id,
        json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date))`

const sqliteTags = `INSERT INTO image_tags (account_id, tag, hash)
        SELECT NEW.account_id, value, NEW.hash FROM json_each(NEW.tags)`

/**
 * What applications edit of their images: `tags` is a JSON array, `meta` a JSON object, `focus` two shares `x,y`. An image with
 * `public` 0 is delivered by signed links only. `bytes` is the size of its blob, by which lists are sorted; triggers keep it, and
 * `image_tags`. `color` of a blob is `#rrggbb`.
 */
export const imageEditing = {
  version: 34,
  sqlite: `${columns('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID')}${fill}${indexes}
    DROP TRIGGER images_stored_again;
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${IMAGE_COLUMNS} ON images BEGIN
      ${sqliteChange};
    END;
    CREATE TRIGGER images_measured AFTER INSERT ON images WHEN NEW.bytes IS NULL BEGIN
      UPDATE images SET bytes = (SELECT size FROM blobs WHERE hash = NEW.hash)
      WHERE account_id = NEW.account_id AND hash = NEW.hash;
    END;
    CREATE TRIGGER images_tagged AFTER INSERT ON images WHEN NEW.tags <> '[]' BEGIN
      ${sqliteTags};
    END;
    CREATE TRIGGER images_tagged_again AFTER UPDATE OF tags ON images WHEN NEW.tags <> OLD.tags BEGIN
      DELETE FROM image_tags WHERE account_id = NEW.account_id AND hash = NEW.hash;
      ${sqliteTags};
    END;
`,
  postgres: `${columns('text COLLATE "C"', 'bigint', '')}
    ALTER TABLE images DISABLE TRIGGER USER;${fill}
    ALTER TABLE images ENABLE TRIGGER USER;${indexes}
    DROP TRIGGER images_stored_again ON images;
    CREATE TRIGGER images_stored_again AFTER UPDATE OF ${IMAGE_COLUMNS} ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_stored_again();
    CREATE FUNCTION catalejo_images_measured() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.bytes := (SELECT size FROM blobs WHERE hash = NEW.hash);
      RETURN NEW;
    END $$;
    CREATE TRIGGER images_measured BEFORE INSERT ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_measured();
    CREATE FUNCTION catalejo_images_tagged() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM image_tags WHERE account_id = NEW.account_id AND hash = NEW.hash;
      INSERT INTO image_tags (account_id, tag, hash)
        SELECT NEW.account_id, value, NEW.hash FROM jsonb_array_elements_text(NEW.tags::jsonb);
      RETURN NULL;
    END $$;
    CREATE TRIGGER images_tagged AFTER INSERT ON images
      FOR EACH ROW WHEN (NEW.tags <> '[]') EXECUTE FUNCTION catalejo_images_tagged();
    CREATE TRIGGER images_tagged_again AFTER UPDATE OF tags ON images
      FOR EACH ROW WHEN (NEW.tags <> OLD.tags) EXECUTE FUNCTION catalejo_images_tagged();
`,
}
