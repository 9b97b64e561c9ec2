const table = (text: string, integer: string, options: string) => `
    CREATE TABLE feed_states (
      name ${text} PRIMARY KEY,
      source ${text} NOT NULL,
      first_at ${integer} NOT NULL,
      attempted_at ${integer} NOT NULL,
      due_at ${integer} NOT NULL,
      succeeded_at ${integer},
      changed_at ${integer},
      failures ${integer} NOT NULL,
      error ${text},
      etag ${text},
      last_modified ${text},
      records_read ${integer},
      records_changed ${integer},
      lines_refused ${integer}
    ) ${options};
`

/**
 * When the lists of the feeds were fetched, and with which result. `source` is a digest of the settings that the validators
 * `etag` and `last_modified` belong to; `failures` counts the failed attempts since the last success.
 */
export const feedStates = {
  version: 21,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
