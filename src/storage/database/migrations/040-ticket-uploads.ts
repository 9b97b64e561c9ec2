const table = (text: string, integer: string, options: string) => `
    CREATE TABLE ticket_uploads (
      id ${text} PRIMARY KEY,
      ticket ${text} NOT NULL REFERENCES upload_tickets (digest) ON DELETE CASCADE,
      account_id ${integer} NOT NULL,
      length ${integer} NOT NULL,
      name ${text},
      received ${integer} NOT NULL DEFAULT 0,
      parts ${text} NOT NULL DEFAULT '[]',
      expires_at ${integer} NOT NULL,
      answer ${text}
    ) ${options};
    CREATE INDEX ticket_uploads_by_ticket ON ticket_uploads (ticket);
    CREATE INDEX ticket_uploads_by_account ON ticket_uploads (account_id);
    CREATE INDEX ticket_uploads_by_end ON ticket_uploads (expires_at);
`

/**
 * Resumable uploads with tickets. `parts` is a JSON array of what was received, each with its key in the store of files and its
 * size; `answer` is the JSON of the status and body that the upload ended with, null until then.
 */
export const ticketUploads = {
  version: 40,
  sqlite: table('TEXT', 'INTEGER', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', 'bigint', ''),
}
