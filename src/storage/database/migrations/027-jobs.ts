const table = (text: string, integer: string, options: string) => `
    CREATE TABLE jobs (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      kind ${text} NOT NULL,
      state ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      started_at ${integer},
      ended_at ${integer},
      heard_at ${integer} NOT NULL,
      request ${text} NOT NULL,
      progress ${text} NOT NULL,
      runner ${text},
      file ${text},
      error ${text}
    ) ${options};
    CREATE INDEX jobs_by_account ON jobs (account_id, created_at);
`

/**
 * Imports and bulk changes: `kind` is `import`, `bulk` or `undo`; `state` is `receiving` (its file, whose receiver was last heard of
 * at `heard_at`), `waiting`, `running`, `done`, `failed` or `stopped`. `request` and `progress` are JSON; `runner` is a random text of
 * the run that may change the progress, `file` its key in the store of files.
 */
export const jobs = {
  version: 27,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
