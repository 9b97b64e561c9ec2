const table = (text: string, integer: string, options: string) => `
    CREATE TABLE audit (
      at ${integer} NOT NULL,
      id ${text} NOT NULL,
      actor ${text} NOT NULL,
      key_id ${text},
      action ${text} NOT NULL,
      subject ${text} NOT NULL,
      PRIMARY KEY (at, id)
    ) ${options};
`

/** Who did what. `id` tells entries of one millisecond apart. */
export const audit = {
  version: 39,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
