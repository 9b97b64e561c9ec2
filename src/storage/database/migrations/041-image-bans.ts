const table = (text: string, integer: string, options: string) => `
    CREATE TABLE image_bans (
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      id ${text} NOT NULL,
      hash ${text},
      dhash ${text},
      distance ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      PRIMARY KEY (account_id, id)
    ) ${options};
`

/** Pictures that an application refuses: by the hash of their bytes, by what looks like a dhash, or by both. */
export const imageBans = {
  version: 41,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
