const tables = (text: string, integer: string, end: string) => `
    CREATE TABLE mail_recipients (
      address ${text} PRIMARY KEY,
      confirmed_at ${integer},
      token_digest ${text} UNIQUE,
      expires_at ${integer},
      attempts ${integer} NOT NULL DEFAULT 0,
      next_at ${integer} NOT NULL DEFAULT 0
    )${end};
    CREATE INDEX mail_recipients_by_age ON mail_recipients (expires_at);

    CREATE TABLE sent_mails (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      address ${text} NOT NULL,
      at ${integer} NOT NULL
    )${end};
    CREATE INDEX sent_mails_by_account ON sent_mails (account_id, at);
    CREATE INDEX sent_mails_by_address ON sent_mails (address, at);
    CREATE INDEX sent_mails_by_age ON sent_mails (at);

    CREATE INDEX watch_destinations_by_mail ON watch_destinations (lower(address)) WHERE channel = 'mailto';
    INSERT INTO mail_recipients (address, confirmed_at, expires_at)
      SELECT DISTINCT lower(address), 0, 0 FROM watch_destinations WHERE channel = 'mailto';`

/**
 * Addresses of mails, in lower case, with when their reader confirmed them, and the mails of the last day, which are limited.
 * `expires_at` is the end of the link to confirm, null until it was sent. Addresses that watches have already are confirmed.
 */
export const mailRecipients = {
  version: 23,
  sqlite: tables('TEXT', 'INTEGER', ' STRICT'),
  postgres: tables('text COLLATE "C"', 'bigint', ''),
}
