/** What members think of a record: 1 if it is marked for review, 0 if it is discarded, or seen and not marked; null if they have not decided. */
const wanted = (row: string) =>
  `CASE WHEN ${row}.discarded_at IS NOT NULL THEN 0 WHEN ${row}.revision = 1 THEN 1 WHEN ${row}.seen_at IS NOT NULL THEN 0 END`

/** A change of the status opens a record again, which withdraws no decision. */
const isWithdrawn = `${wanted('NEW')} IS NULL AND OLD.status = NEW.status`

const tables = (integer: string, text: string, options: string) => `
    CREATE TABLE decisions (
      name ${text} PRIMARY KEY,
      wanted ${integer} NOT NULL,
      tags ${text},
      decided_at ${integer} NOT NULL
    ) ${options};
    INSERT INTO decisions (name, wanted, tags, decided_at)
    SELECT name, COALESCE(${wanted('domains')}, 0), tags, COALESCE(discarded_at, seen_at, dismissed_at, 0) FROM domains
    WHERE discarded_at IS NOT NULL OR revision = 1 OR seen_at IS NOT NULL OR dismissed_at IS NOT NULL;
    INSERT INTO decisions (name, wanted, decided_at) SELECT name, 0, dismissed_at FROM dismissed WHERE 1 = 1 ON CONFLICT (name) DO NOTHING;
    CREATE INDEX decisions_by_time ON decisions (wanted, decided_at);
    CREATE TABLE interest_models (
      id ${text} PRIMARY KEY,
      trained_at ${integer} NOT NULL,
      decided_until ${integer} NOT NULL,
      model ${text} NOT NULL
    ) ${options};
`

const decide = (now: string) => `INSERT INTO decisions (name, wanted, tags, decided_at)
        VALUES (NEW.name, ${wanted('NEW')}, NEW.tags, ${now})
        ON CONFLICT (name) DO UPDATE SET wanted = excluded.wanted, tags = excluded.tags, decided_at = excluded.decided_at;`

const NOW_SQLITE = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const NOW_POSTGRES = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'

const sqliteTriggers = `
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

/** Of each row, because the condition of a trigger costs less than a transition table with the rows of a large batch. */
const postgresTriggers = `
    CREATE FUNCTION catalejo_domain_decided() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${decide(NOW_POSTGRES)}
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_domain_undecided() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM decisions WHERE name = NEW.name;
      RETURN NULL;
    END $$;
    CREATE FUNCTION catalejo_domain_tagged() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE decisions SET tags = NEW.tags WHERE name = NEW.name;
      RETURN NULL;
    END $$;
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
 * What the taste of the group is learned from, and what was learned. `decisions` holds the last decision on each name, also
 * after its record was removed; triggers write it. `tags` are those of the record. A model in `interest_models` is named by its
 * digest, and was trained with decisions up to `decided_until`.
 */
export const interest = {
  version: 35,
  sqlite: tables('INTEGER', 'TEXT', 'STRICT, WITHOUT ROWID') + sqliteTriggers,
  postgres: tables('bigint', 'text COLLATE "C"', '') + postgresTriggers,
}
