import { DOMAIN_COLUMNS as COLUMNS_BEFORE } from '../022-first-release/tables.ts'
import * as changes from '../domain-changes.ts'
import { postgresTables, sqliteTables } from './tables.ts'

const NOW_SQLITE = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const NOW_POSTGRES = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

/** The columns of a domain in changes since this version. */
const DOMAIN_COLUMNS = [
  ...COLUMNS_BEFORE,
  'date_reg_known',
  'deleted_after',
  'past_drops',
  'announce_as',
  'status_at',
  'numbers',
]

/** What a dismissed name keeps of its record, besides who discarded it and when. */
const FACTS = 'status, date_reg, date_reg_known, released_at, deleted_after, past_drops'

const toFacts = (row: string) => FACTS.replaceAll(/\w+/g, (column) => `${row}.${column}`)

/** Who discarded a record: the author of the last change that marked it. */
const discarder = (
  row: string,
) => `(SELECT accounts.name FROM changes JOIN accounts ON accounts.id = changes.account_id
        WHERE topic = 'domain' AND key = ${row}.name AND kind IN ('added', 'discarded') ORDER BY changes.id DESC LIMIT 1)`

/** The triggers that write changes also remember dismissed names. */
const sqliteChanges = `
    DROP TRIGGER domains_added;
    DROP TRIGGER domains_changed;
    DROP TRIGGER domains_deleted;${changes.sqliteTriggers(DOMAIN_COLUMNS, {
      afterInsert: `
      DELETE FROM dismissed WHERE name = NEW.name;`,
      authorOfUpdate: (author) => `COALESCE(${author}, OLD.announce_for)`,
      beforeDelete: `
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
        SELECT OLD.name, ${discarder('OLD')}, OLD.discarded_at, ${toFacts('OLD')} WHERE OLD.discarded_at IS NOT NULL
        ON CONFLICT (name) DO NOTHING;`,
    })}`

const postgresChanges = changes.postgresTriggers(DOMAIN_COLUMNS, {
  afterInsert: `
      DELETE FROM dismissed USING added WHERE dismissed.name = added.name;`,
  authorOfUpdate: (author) => `COALESCE(${author}, old_row.announce_for)`,
  beforeDelete: `
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
      SELECT old_row.name, ${discarder('old_row')}, old_row.discarded_at, ${toFacts('old_row')}
      FROM was AS old_row WHERE old_row.discarded_at IS NOT NULL ON CONFLICT (name) DO NOTHING;`,
})

/** What members think of a record: 1 if it is marked for review, 0 if it is discarded, or seen and not marked; null if they have not decided. */
const wanted = (row: string) =>
  `CASE WHEN ${row}.discarded_at IS NOT NULL THEN 0 WHEN ${row}.revision = 1 THEN 1 WHEN ${row}.seen_at IS NOT NULL THEN 0 END`

/** A change of the status opens a record again, which withdraws no decision. */
const isWithdrawn = `${wanted('NEW')} IS NULL AND OLD.status = NEW.status`

const decide = (now: string) => `INSERT INTO decisions (name, wanted, tags, decided_at)
        VALUES (NEW.name, ${wanted('NEW')}, NEW.tags, ${now})
        ON CONFLICT (name) DO UPDATE SET wanted = excluded.wanted, tags = excluded.tags, decided_at = excluded.decided_at;`

const sqliteDecisions = `
    CREATE TRIGGER domains_recorded_decided AFTER INSERT ON domains WHEN ${wanted('NEW')} IS NOT NULL BEGIN
      ${decide(NOW_SQLITE)}
    END;
    CREATE TRIGGER domains_decided AFTER UPDATE OF revision, discarded_at, seen_at ON domains
    WHEN ${wanted('NEW')} IS NOT NULL AND ${wanted('NEW')} IS NOT ${wanted('OLD')} BEGIN
      ${decide(NOW_SQLITE)}
    END;
    CREATE TRIGGER domains_undecided AFTER UPDATE OF revision, discarded_at, seen_at ON domains
    WHEN ${wanted('OLD')} IS NOT NULL AND ${isWithdrawn} BEGIN
      DELETE FROM decisions WHERE name = NEW.name;
    END;
    CREATE TRIGGER domains_tagged AFTER UPDATE OF tags ON domains WHEN OLD.tags IS NOT NEW.tags BEGIN
      UPDATE decisions SET tags = NEW.tags WHERE name = NEW.name;
    END;
`

const triggerFunction = (name: string, statements: string) => `
    CREATE FUNCTION catalejo_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${statements}
      RETURN NULL;
    END $$;`

/** Of each row, because the condition of a trigger costs less than a transition table with the rows of a large batch. */
const postgresDecisions = `${triggerFunction('domain_decided', decide(NOW_POSTGRES))}
    ${triggerFunction('domain_undecided', 'DELETE FROM decisions WHERE name = NEW.name;')}
    ${triggerFunction('domain_tagged', 'UPDATE decisions SET tags = NEW.tags WHERE name = NEW.name;')}
    CREATE TRIGGER domains_recorded_decided AFTER INSERT ON domains FOR EACH ROW
    WHEN (${wanted('NEW')} IS NOT NULL) EXECUTE FUNCTION catalejo_domain_decided();
    CREATE TRIGGER domains_decided AFTER UPDATE ON domains FOR EACH ROW
    WHEN (${wanted('NEW')} IS NOT NULL AND ${wanted('NEW')} IS DISTINCT FROM ${wanted('OLD')}) EXECUTE FUNCTION catalejo_domain_decided();
    CREATE TRIGGER domains_undecided AFTER UPDATE ON domains FOR EACH ROW
    WHEN (${wanted('OLD')} IS NOT NULL AND ${isWithdrawn}) EXECUTE FUNCTION catalejo_domain_undecided();
    CREATE TRIGGER domains_tagged AFTER UPDATE ON domains FOR EACH ROW
    WHEN (OLD.tags IS DISTINCT FROM NEW.tags) EXECUTE FUNCTION catalejo_domain_tagged();
`

/**
 * The update of these columns of an image is a change. That of the trash is another one: for those who follow the changes, an image
 * that enters the trash is deleted, and one that leaves it is stored, also by an upload.
 */
const UPDATED = 'AFTER UPDATE OF name, name_folded, date, expires, tags, meta, focus, public ON images'
const STAYED = '(OLD.trashed_at IS NULL) = (NEW.trashed_at IS NULL)'
const MOVED = '(OLD.trashed_at IS NULL) <> (NEW.trashed_at IS NULL)'

const sqliteTags = `INSERT INTO image_tags (account_id, tag, hash)
        SELECT NEW.account_id, value, NEW.hash FROM json_each(NEW.tags)`

const sqliteAlias = (before: string, after: string, row: 'NEW' | 'OLD') => `
      INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (${NOW_SQLITE}, 'alias', 'changed', ${row}.name, ${row}.account_id, ${before}, ${after});`

/** Hooks of applications are watches, and follow the change log: aliases are written there. */
const sqliteImages = `
    DROP TRIGGER images_stored_again;
    CREATE TRIGGER images_stored_again ${UPDATED} WHEN ${STAYED} BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (${NOW_SQLITE}, 'image', 'stored', NEW.hash, NEW.account_id,
        json_array(OLD.name, OLD.date), json_array(NEW.name, NEW.date));
    END;
    CREATE TRIGGER images_trashed AFTER UPDATE OF trashed_at ON images
    WHEN ${MOVED} BEGIN
      INSERT INTO changes (at, topic, kind, key, account_id, before, after)
      VALUES (${NOW_SQLITE}, 'image',
        CASE WHEN NEW.trashed_at IS NULL THEN 'stored' ELSE 'deleted' END, NEW.hash, NEW.account_id,
        CASE WHEN OLD.trashed_at IS NULL THEN json_array(OLD.name, OLD.date) END,
        CASE WHEN NEW.trashed_at IS NULL THEN json_array(NEW.name, NEW.date) END);
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
    CREATE TRIGGER image_aliases_set AFTER INSERT ON image_aliases BEGIN${sqliteAlias('NULL', 'json_array(NEW.hash)', 'NEW')}
    END;
    CREATE TRIGGER image_aliases_set_again AFTER UPDATE OF hash ON image_aliases WHEN NEW.hash <> OLD.hash
    BEGIN${sqliteAlias('json_array(OLD.hash)', 'json_array(NEW.hash)', 'NEW')}
    END;
    CREATE TRIGGER image_aliases_removed AFTER DELETE ON image_aliases BEGIN${sqliteAlias('json_array(OLD.hash)', 'NULL', 'OLD')}
    END;
`

const postgresAlias = (before: string, after: string, row: 'NEW' | 'OLD') => `
        INSERT INTO changes (topic, kind, key, account_id, before, after)
        VALUES ('alias', 'changed', ${row}.name, ${row}.account_id, ${before}, ${after});`

const postgresImages = `
    DROP TRIGGER images_stored_again ON images;
    CREATE TRIGGER images_stored_again ${UPDATED}
      FOR EACH ROW WHEN (${STAYED}) EXECUTE FUNCTION catalejo_images_stored_again();
    ${triggerFunction(
      'images_trashed',
      `INSERT INTO changes (topic, kind, key, account_id, before, after)
      VALUES ('image', CASE WHEN NEW.trashed_at IS NULL THEN 'stored' ELSE 'deleted' END, NEW.hash, NEW.account_id,
        CASE WHEN OLD.trashed_at IS NULL THEN json_build_array(OLD.name, OLD.date)::text END,
        CASE WHEN NEW.trashed_at IS NULL THEN json_build_array(NEW.name, NEW.date)::text END);`,
    )}
    CREATE TRIGGER images_trashed AFTER UPDATE OF trashed_at ON images
      FOR EACH ROW WHEN (${MOVED}) EXECUTE FUNCTION catalejo_images_trashed();
    CREATE FUNCTION catalejo_images_measured() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.bytes := (SELECT size FROM blobs WHERE hash = NEW.hash);
      RETURN NEW;
    END $$;
    CREATE TRIGGER images_measured BEFORE INSERT ON images
      FOR EACH ROW EXECUTE FUNCTION catalejo_images_measured();
    ${triggerFunction(
      'images_tagged',
      `DELETE FROM image_tags WHERE account_id = NEW.account_id AND hash = NEW.hash;
      INSERT INTO image_tags (account_id, tag, hash)
        SELECT NEW.account_id, value, NEW.hash FROM jsonb_array_elements_text(NEW.tags::jsonb);`,
    )}
    CREATE TRIGGER images_tagged AFTER INSERT ON images
      FOR EACH ROW WHEN (NEW.tags <> '[]') EXECUTE FUNCTION catalejo_images_tagged();
    CREATE TRIGGER images_tagged_again AFTER UPDATE OF tags ON images
      FOR EACH ROW WHEN (NEW.tags <> OLD.tags) EXECUTE FUNCTION catalejo_images_tagged();
    ${triggerFunction(
      'image_alias_changed',
      `IF TG_OP = 'DELETE' THEN${postgresAlias('json_build_array(OLD.hash)::text', 'NULL', 'OLD')}
      ELSIF TG_OP = 'INSERT' THEN${postgresAlias('NULL', 'json_build_array(NEW.hash)::text', 'NEW')}
      ELSIF NEW.hash <> OLD.hash THEN${postgresAlias('json_build_array(OLD.hash)::text', 'json_build_array(NEW.hash)::text', 'NEW')}
      END IF;`,
    )}
    CREATE TRIGGER image_alias_changed AFTER INSERT OR UPDATE OR DELETE ON image_aliases
      FOR EACH ROW EXECUTE FUNCTION catalejo_image_alias_changed();
`

const measure = `
    UPDATE images SET bytes = (SELECT size FROM blobs WHERE blobs.hash = images.hash);
`

/** PostgreSQL refuses long keys of indexes, so that names are sorted by their beginning. */
const imageIndexes = `
    CREATE INDEX images_by_name ON images (account_id, substr(name_folded, 1, 100), hash);
    CREATE INDEX images_by_bytes ON images (account_id, bytes, hash);
    CREATE INDEX images_trashed ON images (account_id, trashed_at, hash) WHERE trashed_at IS NOT NULL;
    CREATE INDEX images_in_trash ON images (trashed_at) WHERE trashed_at IS NOT NULL;
`

/** Everything that the schema has since release 0.1.0. */
export const secondRelease = {
  version: 45,
  sqlite: sqliteTables + measure + imageIndexes + sqliteImages + sqliteChanges + sqliteDecisions,
  // Release 0.1.0 left a trigger of earlier nodes that fires for no watch.
  postgres: `${postgresTables}
    DROP TRIGGER IF EXISTS watch_webhook ON watches;
    DROP FUNCTION IF EXISTS catalejo_watch_webhook;
    ALTER TABLE images DISABLE TRIGGER USER;${measure}
    ALTER TABLE images ENABLE TRIGGER USER;${imageIndexes}${postgresImages}${postgresChanges}${postgresDecisions}`,
}
