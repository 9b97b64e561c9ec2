import { postgresParts, sqliteParts } from './025-registry-lists.ts'
import { DOMAIN_COLUMNS as COLUMNS_BEFORE } from './033-status-times.ts'
import { postgresTriggers, sqliteTriggers } from './domain-changes.ts'

const DOMAIN_COLUMNS = [...COLUMNS_BEFORE, 'numbers']

const schema = (text: string, options: string) => `
    CREATE TABLE numbers (
      name ${text} PRIMARY KEY,
      numbers ${text} NOT NULL
    ) ${options};
    ALTER TABLE domains ADD COLUMN numbers ${text};
    ALTER TABLE instance ADD COLUMN number_keys ${text};`

/**
 * The imported numbers of names, recorded or not, as text: `backlinks=12 volumen=120.5`, sorted by key. A record has a copy of
 * its own. `instance.number_keys` holds all keys, sorted and separated by spaces.
 */
export const numbers = {
  version: 36,
  sqlite: `${schema('TEXT', 'STRICT, WITHOUT ROWID')}${sqliteTriggers(DOMAIN_COLUMNS, sqliteParts)}`,
  postgres: `${schema('text COLLATE "C"', '')}${postgresTriggers(DOMAIN_COLUMNS, postgresParts)}`,
}
