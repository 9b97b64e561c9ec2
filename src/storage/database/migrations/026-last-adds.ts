const rename = 'ALTER TABLE feeds RENAME TO last_adds;'

/** When each account last added records. The table was named like the lists that are fetched regularly. */
export const lastAdds = {
  version: 26,
  sqlite: rename,
  // Nodes of the version before still write it during a rolling upgrade.
  postgres: `${rename}
    CREATE VIEW feeds AS SELECT account_id, added_at FROM last_adds;`,
}
