const indexes = `
    DROP INDEX claims_by_end;
    DROP INDEX claims_by_account;
    CREATE INDEX claims_by_account ON claims (account_id);`

/**
 * No index contains `until`: each claim changes that of all records that the account holds. PostgreSQL then changes a row
 * within its page, where there is room for the new version, and touches no index.
 */
export const claimsInPlace = {
  version: 22,
  sqlite: indexes,
  postgres: `
    ALTER TABLE claims SET (fillfactor = 40);${indexes}
`,
}
