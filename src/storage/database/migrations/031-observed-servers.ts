const table = (text: string, integer: string, options: string) => `
    CREATE TABLE observed_servers (
      kind ${text} NOT NULL,
      server ${text} NOT NULL,
      name ${text} NOT NULL,
      last_at ${integer} NOT NULL,
      PRIMARY KEY (kind, server, name)
    ) ${options};
    CREATE INDEX observed_servers_by_name ON observed_servers (name);
`
const copy = (kind: string, server: string, from: string) => `
    INSERT INTO observed_servers (kind, server, name, last_at)
    SELECT '${kind}', ${server}, name, max(last_at) FROM ${from} GROUP BY 2, 3 HAVING ${server} <> '.';
`

/**
 * Which names were seen with a server: `kind` is `ns`, `mx` or `ip`, `last_at` when it was last new for the name. Those of name servers
 * and MX records are in the histories as well, by name.
 */
export const observedServers = {
  version: 31,
  sqlite:
    table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID') +
    copy('ns', 'lower(value)', 'name_servers, json_each(servers)') +
    copy('mx', "lower(json_extract(value, '$.exchange'))", 'mail_servers, json_each(servers)'),
  postgres:
    table('text COLLATE "C"', 'bigint', '') +
    copy('ns', 'lower(value)', 'name_servers, jsonb_array_elements_text(servers::jsonb) AS one (value)') +
    copy(
      'mx',
      "lower(value ->> 'exchange')",
      'mail_servers, jsonb_array_elements(servers::jsonb) AS one (value)',
    ),
}
