import { DOMAIN_COLUMNS as COLUMNS_BEFORE } from './014-decisions.ts'
import { postgresTriggers, sqliteTriggers, type TriggerParts } from './domain-changes.ts'

/** The columns of a domain in changes since this version. */
export const DOMAIN_COLUMNS = [
  ...COLUMNS_BEFORE,
  'date_reg_known',
  'deleted_after',
  'past_drops',
  'announce_as',
]

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

/** Who discarded a record: the author of the last change that marked it. */
const discarder = (
  row: string,
) => `(SELECT accounts.name FROM changes JOIN accounts ON accounts.id = changes.account_id
        WHERE topic = 'domain' AND key = ${row}.name AND kind IN ('added', 'discarded') ORDER BY changes.id DESC LIMIT 1)`

const columns = (row: string) => FACTS.replaceAll(/\w+/g, (column) => `${row}.${column}`)

/** What the triggers do besides writing changes, since this version. */
export const sqliteParts: TriggerParts = {
  afterInsert: `
      DELETE FROM dismissed WHERE name = NEW.name;`,
  authorOfUpdate: (author) => `COALESCE(${author}, OLD.announce_for)`,
  beforeDelete: `
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
        SELECT OLD.name, ${discarder('OLD')}, OLD.discarded_at, ${columns('OLD')} WHERE OLD.discarded_at IS NOT NULL
        ON CONFLICT (name) DO NOTHING;`,
}

export const postgresParts: TriggerParts = {
  afterInsert: `
      DELETE FROM dismissed USING added WHERE dismissed.name = added.name;`,
  authorOfUpdate: (author) => `COALESCE(${author}, old_row.announce_for)`,
  beforeDelete: `
      INSERT INTO dismissed (name, dismissed_by, dismissed_at, ${FACTS})
      SELECT old_row.name, ${discarder('old_row')}, old_row.discarded_at, ${columns('old_row')}
      FROM was AS old_row WHERE old_row.discarded_at IS NOT NULL ON CONFLICT (name) DO NOTHING;`,
}

const sqlite = `${schema('INTEGER', 'TEXT', 'INTEGER PRIMARY KEY', 'STRICT', 'STRICT, WITHOUT ROWID')}
${sqliteTriggers(DOMAIN_COLUMNS, sqliteParts)}`

const IDENTITY = 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'

const postgres = `${schema('bigint', 'text COLLATE "C"', IDENTITY, '', '')}${postgresTriggers(DOMAIN_COLUMNS, postgresParts)}`

export const registryLists = { version: 25, sqlite, postgres }
