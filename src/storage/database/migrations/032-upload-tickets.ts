const tables = (text: string, integer: string, options: string) => `
    CREATE TABLE upload_tickets (
      digest ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      key_id ${text} NOT NULL,
      expires_at ${integer} NOT NULL,
      uses_left ${integer} NOT NULL,
      refusals ${integer} NOT NULL DEFAULT 0,
      terms ${text} NOT NULL
    ) ${options};
    CREATE INDEX upload_tickets_by_end ON upload_tickets (expires_at);
    CREATE INDEX upload_tickets_by_account ON upload_tickets (account_id);
`

/**
 * Tickets with which visitors upload images, by the digest of the ticket; `terms` is JSON. `uses_left` is without the uses that
 * running uploads have reserved.
 */
export const uploadTickets = {
  version: 32,
  sqlite: tables('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: tables('text COLLATE "C"', 'bigint', ''),
}
