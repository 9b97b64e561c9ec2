const UPDATED = 'AFTER UPDATE OF name, name_folded, date, expires, tags, meta, focus, public ON images'
/** The trigger `images_trashed` writes the change of entering or leaving the trash. */
const STAYED = '(OLD.trashed_at IS NULL) = (NEW.trashed_at IS NULL)'

/** An upload that takes an image out of the trash is one change: the image is stored. */
export const imageRestored = {
  version: 45,
  sqlite: `
    DROP TRIGGER images_stored_again;
    CREATE TRIGGER images_stored_again ${UPDATED} WHEN ${STAYED} BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), 'image', 'stored', NEW.hash, NEW.account_id,
        json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date));
    END;
`,
  postgres: `
    DROP TRIGGER images_stored_again ON images;
    CREATE TRIGGER images_stored_again ${UPDATED}
      FOR EACH ROW WHEN (${STAYED}) EXECUTE FUNCTION catalejo_images_stored_again();
`,
}
