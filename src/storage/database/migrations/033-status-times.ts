import { DOMAIN_COLUMNS as COLUMNS_BEFORE, postgresParts, sqliteParts } from './025-registry-lists.ts'
import { postgresTriggers, sqliteTriggers } from './domain-changes.ts'

export const DOMAIN_COLUMNS = [...COLUMNS_BEFORE, 'status_at']

const column = (text: string) => `
    ALTER TABLE domains ADD COLUMN status_at ${text};`

/** When the record got its status, and was recorded if that never changed; null if both were before this version. */
export const statusTimes = {
  version: 33,
  sqlite: `${column('TEXT')}${sqliteTriggers(DOMAIN_COLUMNS, sqliteParts)}`,
  postgres: `${column('text COLLATE "C"')}${postgresTriggers(DOMAIN_COLUMNS, postgresParts)}`,
}
