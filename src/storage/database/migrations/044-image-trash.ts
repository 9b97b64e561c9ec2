const schema = (integer: string) => `
    ALTER TABLE images ADD COLUMN trashed_at ${integer};
    CREATE INDEX images_trashed ON images (account_id, trashed_at, hash) WHERE trashed_at IS NOT NULL;
    CREATE INDEX images_in_trash ON images (trashed_at) WHERE trashed_at IS NOT NULL;
`

/**
 * `trashed_at` is when an image was moved to the trash, in seconds since 1970; NULL if it is not there. For those who follow the
 * changes, an image that enters the trash is deleted, and one that leaves it is stored.
 */
export const imageTrash = {
  version: 44,
  sqlite: `${schema('INTEGER')}
    CREATE TRIGGER images_trashed AFTER UPDATE OF trashed_at ON images
    WHEN (OLD.trashed_at IS NULL) <> (NEW.trashed_at IS NULL) BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), 'image',
        CASE WHEN NEW.trashed_at IS NULL THEN 'stored' ELSE 'deleted' END, NEW.hash, NEW.account_id,
        CASE WHEN OLD.trashed_at IS NULL THEN json_array(OLD.name, OLD.date) END,
        CASE WHEN NEW.trashed_at IS NULL THEN json_array(NEW.name, NEW.date) END);
    END;
`,
  postgres: `${schema('bigint')}
    CREATE FUNCTION catalejo_images_trashed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      VALUES ('image', CASE WHEN NEW.trashed_at IS NULL THEN 'stored' ELSE 'deleted' END, NEW.hash, NEW.account_id,
        CASE WHEN OLD.trashed_at IS NULL THEN json_build_array(OLD.name, OLD.date)::text END,
        CASE WHEN NEW.trashed_at IS NULL THEN json_build_array(NEW.name, NEW.date)::text END);
      RETURN NULL;
    END $$;
    CREATE TRIGGER images_trashed AFTER UPDATE OF trashed_at ON images
      FOR EACH ROW WHEN ((OLD.trashed_at IS NULL) <> (NEW.trashed_at IS NULL)) EXECUTE FUNCTION catalejo_images_trashed();
`,
}
