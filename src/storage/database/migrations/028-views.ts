const schema = (text: string, integer: string, options: string) => `
    CREATE TABLE views (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      filters ${text} NOT NULL,
      shared ${integer} NOT NULL,
      created_at ${integer} NOT NULL
    ) ${options};
    CREATE INDEX views_by_account ON views (account_id, created_at, id);
    CREATE INDEX views_shared ON views (created_at, id) WHERE shared = 1;
`

/** Saved views of accounts: `filters` is a URL query, `shared` is 1 if the whole group sees the view. */
export const views = {
  version: 28,
  sqlite: schema('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: schema('text COLLATE "C"', 'bigint', ''),
}
