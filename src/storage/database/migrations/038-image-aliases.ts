const table = (text: string, integer: string, options: string) => `
    CREATE TABLE image_aliases (
      account_id ${integer} NOT NULL,
      name ${text} NOT NULL,
      hash ${text} NOT NULL,
      PRIMARY KEY (account_id, name),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) ${options};
    CREATE INDEX image_aliases_by_image ON image_aliases (account_id, hash);
`

/** Names of an application for its images. Links read them from the database, so that their changes are not in the change log. */
export const imageAliases = {
  version: 38,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
