const tables = (text: string, integer: string, options: string) => `
    CREATE TABLE mail_servers (
      name ${text} NOT NULL,
      first_at ${integer} NOT NULL,
      last_at ${integer} NOT NULL,
      servers ${text},
      PRIMARY KEY (name, first_at)
    ) ${options};
    CREATE TABLE dns_checks (
      name ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL,
      due_at ${integer} NOT NULL
    ) ${options};
    CREATE INDEX dns_checks_by_due ON dns_checks (account_id, due_at);
    CREATE INDEX domains_tagged ON domains (name) WHERE tags IS NOT NULL;
`

/**
 * `mail_servers` holds the observed MX records like `name_servers`: a JSON array, NULL if the name did not exist. `dns_checks`
 * holds the names that are looked up again and when; account_id is the account whose watch asks for it, 0 for all members.
 */
export const dnsChecks = {
  version: 17,
  sqlite: tables('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: tables('text COLLATE "C"', 'bigint', ''),
}
