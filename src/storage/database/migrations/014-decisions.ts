import { postgresTriggers, sqliteTriggers } from './domain-changes.ts'

/** A domain's columns as a change stores them. Changes from before this version have fewer elements. */
export const DOMAIN_COLUMNS = [
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
]

/**
 * Who decided on a record and when, its note and its tags. `tags` has a space before and after each tag (` casa venta `),
 * so that one `contains` finds an exact tag. Columns without a default rewrite no table.
 */
const columns = (integer: string, text: string) => `
    ALTER TABLE domains ADD COLUMN seen_at ${integer};
    ALTER TABLE domains ADD COLUMN seen_by ${text};
    ALTER TABLE domains ADD COLUMN note ${text};
    ALTER TABLE domains ADD COLUMN tags ${text};`

const sqlite = `${columns('INTEGER', 'TEXT')}
${sqliteTriggers(DOMAIN_COLUMNS)}`

const postgres = `${columns('bigint', 'text COLLATE "C"')}${postgresTriggers(DOMAIN_COLUMNS)}`

export const decisions = { version: 14, sqlite, postgres }
