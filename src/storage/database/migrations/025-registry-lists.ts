/** A domain's columns as a change stores them. Changes from before this version have fewer elements. */
const DOMAIN_COLUMNS = [
  'agent',
  'status',
  'reserved',
  'revision',
  'discarded_at',
  'date_reg',
  'date_mod',
  'released_at',
  'seen_at',
  'seen_by',
  'note',
  'tags',
  'date_reg_known',
  'deleted_after',
  'past_drops',
  'announce_as',
]

const domain = (row: string): string => DOMAIN_COLUMNS.map((column) => `${row}.${column}`).join(', ')

/** What a dismissed name keeps of its record, besides who discarded it and when. */
const FACTS = 'status, date_reg, date_reg_known, released_at, deleted_after, past_drops'

/**
 * What the lists of the registry say about names.
 *
 * `domains`: `date_reg` is the registration, or if that is unknown (`date_reg_known` is 0) the deletion. `deleted_after` is the
 * earliest time of the deletion of a free record; of a bought one, earlier deletions change nothing. `past_drops` counts the
 * periods in which it was free before the present one. While `announce_as` is set, the event that it became free waits: it is
 * `added` or `changed`, until `announce_at` or until a list of registrations of the account `announce_for` was read. The end of the
 * wait is a change of that account.
 * `dismissed_by` and `dismissed_at` tell who discarded an earlier record of the name.
 *
 * `list_sources` holds the last list of each source, and the last complete one; `gap_from` and `gap_to` are its last gap.
 * `listed_names` holds the names of lists of deletions, and the earliest time at which each was last deleted. `dismissed` holds
 * names whose discarded records were removed: a trigger remembers them, whoever removes them.
 */
const schema = (integer: string, text: string, identity: string, options: string, keyed: string) => `
    ALTER TABLE domains ADD COLUMN date_reg_known ${integer} NOT NULL DEFAULT 1;
    ALTER TABLE domains ADD COLUMN deleted_after ${text};
    ALTER TABLE domains ADD COLUMN past_drops ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE domains ADD COLUMN announce_as ${text};
    ALTER TABLE domains ADD COLUMN announce_at ${integer};
    ALTER TABLE domains ADD COLUMN announce_for ${integer};
    ALTER TABLE domains ADD COLUMN dismissed_by ${text};
    ALTER TABLE domains ADD COLUMN dismissed_at ${integer};
    CREATE INDEX domains_unannounced ON domains (announce_at) WHERE announce_at IS NOT NULL;
    ALTER TABLE instance ADD COLUMN time_zone ${text};

    CREATE TABLE list_sources (
      id ${identity},
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      kind ${text} NOT NULL,
      listed_at ${integer},
      digest ${text},
      complete_at ${integer},
      names ${integer},
      gaps ${integer} NOT NULL DEFAULT 0,
      gap_from ${integer},
      gap_to ${integer},
      UNIQUE (account_id, name)
    ) ${options};
    CREATE TABLE listed_names (
      name ${text} NOT NULL,
      source_id ${integer} NOT NULL,
      not_before ${integer} NOT NULL,
      listed_at ${integer} NOT NULL,
      PRIMARY KEY (name, source_id)
    ) ${keyed};
    CREATE TABLE dismissed (
      name ${text} PRIMARY KEY,
      dismissed_by ${text},
      dismissed_at ${integer} NOT NULL,
      status ${integer} NOT NULL,
      date_reg ${text} NOT NULL,
      date_reg_known ${integer} NOT NULL,
      released_at ${text},
      deleted_after ${text},
      past_drops ${integer} NOT NULL
    ) ${keyed};
    CREATE INDEX dismissed_by_time ON dismissed (dismissed_at, name);`

const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const AUTHOR = '(SELECT author FROM change_log)'
const kindOf = (was: string, is: string) =>
  `CASE WHEN ${was}.discarded_at IS NULL AND ${is}.discarded_at IS NOT NULL THEN 'discarded' ELSE 'changed' END`

/** Who discarded a record: the author of the last change that marked it. */
const discarder = (
  row: string,
) => `(SELECT accounts.name FROM changes JOIN accounts ON accounts.id = changes.account_id
        WHERE topic = 'domain' AND key = ${row}.name AND kind IN ('added', 'discarded') ORDER BY changes.id DESC LIMIT 1)`

const change = (values: string) =>
  `INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (${NOW}, 'domain', ${values})`

const columns = (row: string) => FACTS.replaceAll(/\w+/g, (column) => `${row}.${column}`)

const sqlite = `${schema('INTEGER', 'TEXT', 'INTEGER PRIMARY KEY', 'STRICT', 'STRICT, WITHOUT ROWID')}

    DROP TRIGGER domains_added;
    DROP TRIGGER domains_changed;
    DROP TRIGGER domains_deleted;
    CREATE TRIGGER domains_added AFTER INSERT ON domains BEGIN
      ${change(`'added', NEW.name, ${AUTHOR}, NULL, json_array(${domain('NEW')})`)};
      DELETE FROM dismissed WHERE name = NEW.name;
    END;
    CREATE TRIGGER domains_changed AFTER UPDATE ON domains
    WHEN (${domain('OLD')}) IS NOT (${domain('NEW')}) BEGIN
      ${change(`${kindOf('OLD', 'NEW')}, NEW.name, COALESCE(${AUTHOR}, OLD.announce_for), json_array(${domain('OLD')}), json_array(${domain('NEW')})`)};
    END;
    -- A discarded record expires, so its deletion has no author, whoever writes when it happens.
    CREATE TRIGGER domains_deleted AFTER DELETE ON domains BEGIN
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
        SELECT OLD.name, ${discarder('OLD')}, OLD.discarded_at, ${columns('OLD')} WHERE OLD.discarded_at IS NOT NULL
        ON CONFLICT (name) DO NOTHING;
      ${change(`'deleted', OLD.name, CASE WHEN OLD.discarded_at IS NULL THEN ${AUTHOR} END, json_array(${domain('OLD')}), NULL`)};
    END;
`

const triggerFunction = (name: string, body: string, settings = '') => `
    CREATE OR REPLACE FUNCTION catalejo_${name}() RETURNS trigger LANGUAGE plpgsql ${settings} AS $$
    DECLARE author bigint := catalejo_author();
    BEGIN${body}
      RETURN NULL;
    END $$;`

const IDENTITY = 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'

const postgres = `${schema('bigint', 'text COLLATE "C"', IDENTITY, '', '')}
    ${triggerFunction(
      'domains_added',
      `
      INSERT INTO changes (topic, kind, key, account_id, after)
      SELECT 'domain', 'added', new_row.name, author, json_build_array(${domain('new_row')})::text FROM added AS new_row;
      DELETE FROM dismissed USING added WHERE dismissed.name = added.name;`,
    )}
    -- The plan is cached, perhaps from a single row: a nested loop would match 50,000 rows against each other.
    ${triggerFunction(
      'domains_changed',
      `
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      SELECT 'domain', ${kindOf('old_row', 'new_row')}, new_row.name, COALESCE(author, old_row.announce_for),
        json_build_array(${domain('old_row')})::text, json_build_array(${domain('new_row')})::text
      FROM was AS old_row JOIN now_is AS new_row ON old_row.name = new_row.name
      WHERE (${domain('old_row')}) IS DISTINCT FROM (${domain('new_row')});`,
      'SET enable_nestloop = off',
    )}
    ${triggerFunction(
      'domains_deleted',
      `
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
      SELECT old_row.name, ${discarder('old_row')}, old_row.discarded_at, ${columns('old_row')}
      FROM was AS old_row WHERE old_row.discarded_at IS NOT NULL ON CONFLICT (name) DO NOTHING;
      INSERT INTO changes (topic, kind, key, account_id, before)
      SELECT 'domain', 'deleted', old_row.name, CASE WHEN old_row.discarded_at IS NULL THEN author END,
        json_build_array(${domain('old_row')})::text
      FROM was AS old_row;`,
    )}
`

export const registryLists = { version: 25, sqlite, postgres }
