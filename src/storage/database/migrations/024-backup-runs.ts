const table = (text: string, integer: string, options: string) => `
    CREATE TABLE backup_runs (
      kind ${text} PRIMARY KEY,
      attempted_at ${integer} NOT NULL,
      succeeded_at ${integer},
      duration_ms ${integer} NOT NULL,
      error ${text}
    ) ${options};
`

/** The last backup, check of a backup and drill: when each was attempted and last succeeded, how long it took, and why it failed. */
export const backupRuns = {
  version: 24,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
