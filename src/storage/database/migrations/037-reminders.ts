const table = (text: string, integer: string, options: string) => `
    CREATE TABLE reminders (
      days ${integer} PRIMARY KEY,
      last_date ${text} NOT NULL,
      last_name ${text} NOT NULL
    ) ${options};
`

/**
 * For each number of days before the end of the time for objections at which watches remind: the last record that they were
 * reminded of, in the order of registrations.
 */
export const reminders = {
  version: 37,
  sqlite: table('TEXT', 'INTEGER', 'STRICT'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
