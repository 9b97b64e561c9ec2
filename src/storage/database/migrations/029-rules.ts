const schema = (text: string, integer: string, options: string) => `
    CREATE TABLE rules (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      action ${text} NOT NULL,
      tag ${text},
      filters ${text} NOT NULL,
      paused ${integer} NOT NULL DEFAULT 0,
      created_at ${integer} NOT NULL
    ) ${options};
    ALTER TABLE instance ADD COLUMN rules_version ${integer} NOT NULL DEFAULT 0;
`

/**
 * The rules of the group: `action` is `hide` or `tag`, `tag` the tag that it adds, `filters` is JSON as in `watches`.
 * `instance.rules_version` grows with each change of the rules, in its transaction.
 */
export const rules = {
  version: 29,
  sqlite: schema('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: schema('text COLLATE "C"', 'bigint', ''),
}
