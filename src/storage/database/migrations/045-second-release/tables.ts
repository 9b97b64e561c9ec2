/** How an engine writes the types of columns, what ends a table, and how it reads the histories of servers. */
interface Dialect {
  readonly text: string
  readonly integer: string
  readonly identity: string
  /** Ends a table with generated keys, or one of which large rows are changed. */
  readonly table: string
  /** Ends a table that is stored by its key. */
  readonly keyed: string
  readonly nameServers: string
  readonly mailServers: string
  readonly exchange: string
}

const observe = (kind: string, server: string, history: string) => `
    INSERT INTO observed_servers (kind, server, name, last_at)
      SELECT '${kind}', ${server}, name, max(last_at) FROM ${history} GROUP BY 2, 3 HAVING ${server} <> '.';`

/**
 * `views`: saved views of accounts; `filters` is a URL query, `shared` is 1 if the whole group sees the view. `rules`: those of the
 * group; `action` is `hide` or `tag`, `tag` the tag that it adds, `filters` is JSON as in `watches`.
 *
 * `observed_servers`: which names were seen with a server; `kind` is `ns`, `mx` or `ip`, `last_at` when it was last new for the name.
 * Those of name servers and MX records are in the histories as well, by name.
 *
 * `numbers`: the imported numbers of names, recorded or not, as text: `backlinks=12 volumen=120.5`, sorted by key.
 */
const names = ({ text, integer, keyed, nameServers, mailServers, exchange }: Dialect) => `
    CREATE TABLE views (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      filters ${text} NOT NULL,
      shared ${integer} NOT NULL,
      created_at ${integer} NOT NULL
    ) ${keyed};
    CREATE INDEX views_by_account ON views (account_id, created_at, id);
    CREATE INDEX views_shared ON views (created_at, id) WHERE shared = 1;
    CREATE TABLE rules (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      action ${text} NOT NULL,
      tag ${text},
      filters ${text} NOT NULL,
      paused ${integer} NOT NULL DEFAULT 0,
      created_at ${integer} NOT NULL
    ) ${keyed};
    CREATE TABLE observed_servers (
      kind ${text} NOT NULL,
      server ${text} NOT NULL,
      name ${text} NOT NULL,
      last_at ${integer} NOT NULL,
      PRIMARY KEY (kind, server, name)
    ) ${keyed};
    CREATE INDEX observed_servers_by_name ON observed_servers (name);
    ${observe('ns', 'lower(value)', nameServers)}
    ${observe('mx', `lower(${exchange})`, mailServers)}
    CREATE TABLE numbers (
      name ${text} PRIMARY KEY,
      numbers ${text} NOT NULL
    ) ${keyed};
`

/**
 * What the taste of the group is learned from, and what was learned. `decisions` holds the last decision on each name, also
 * after its record was removed; triggers write it. `tags` are those of the record. A model in `interest_models` is named by its
 * digest, and was trained with decisions up to `decided_until`.
 */
const interest = ({ text, integer, keyed }: Dialect) => `
    CREATE TABLE decisions (
      name ${text} PRIMARY KEY,
      wanted ${integer} NOT NULL,
      tags ${text},
      decided_at ${integer} NOT NULL
    ) ${keyed};
    INSERT INTO decisions (name, wanted, tags, decided_at)
      SELECT name, CASE WHEN discarded_at IS NULL AND revision = 1 THEN 1 ELSE 0 END, tags, COALESCE(discarded_at, seen_at, 0)
      FROM domains WHERE discarded_at IS NOT NULL OR revision = 1 OR seen_at IS NOT NULL;
    CREATE INDEX decisions_by_time ON decisions (wanted, decided_at);
    CREATE TABLE interest_models (
      id ${text} PRIMARY KEY,
      trained_at ${integer} NOT NULL,
      decided_until ${integer} NOT NULL,
      model ${text} NOT NULL
    ) ${keyed};
`

/**
 * What the lists of the registry say about names. `list_sources` holds the last list of each source, and the last complete one;
 * `gap_from` and `gap_to` are its last gap. `listed_names` holds the names of lists of deletions, and the earliest time at which each
 * was last deleted. `dismissed` holds names whose discarded records were removed; a trigger inserts them.
 */
const registryLists = ({ text, integer, identity, table, keyed }: Dialect) => `
    CREATE TABLE list_sources (
      id ${identity},
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      name ${text} NOT NULL,
      kind ${text} NOT NULL,
      listed_at ${integer},
      digest ${text},
      complete_at ${integer},
      names ${integer},
      gaps ${integer} NOT NULL DEFAULT 0,
      gap_from ${integer},
      gap_to ${integer},
      UNIQUE (account_id, name)
    ) ${table};
    CREATE TABLE listed_names (
      name ${text} NOT NULL,
      source_id ${integer} NOT NULL,
      not_before ${integer} NOT NULL,
      listed_at ${integer} NOT NULL,
      PRIMARY KEY (name, source_id)
    ) ${keyed};
    CREATE TABLE dismissed (
      name ${text} PRIMARY KEY,
      dismissed_by ${text},
      dismissed_at ${integer} NOT NULL,
      status ${integer} NOT NULL,
      date_reg ${text} NOT NULL,
      date_reg_known ${integer} NOT NULL,
      released_at ${text},
      deleted_after ${text},
      past_drops ${integer} NOT NULL
    ) ${keyed};
    CREATE INDEX dismissed_by_time ON dismissed (dismissed_at, name);
`

/**
 * What applications edit of their images: `tags` is a JSON array, `meta` a JSON object, `focus` two shares `x,y`. An image with
 * `public` 0 is delivered by signed links only. `bytes` is the size of its blob, by which lists are sorted; triggers keep it, and
 * `image_tags`. `trashed_at` is when an image was moved to the trash, in seconds since 1970; NULL if it is not there. `color` of a
 * blob is `#rrggbb`. `image_aliases`: names of an application for its images.
 *
 * `image_bans`: pictures that an application refuses, by the hash of their bytes, by what looks like a dhash, or by both.
 * `image_definitions`: presets and watermarks that administrators define while the service runs, as modifiers or JSON.
 */
const images = ({ text, integer, keyed }: Dialect) => `
    ALTER TABLE blobs ADD COLUMN color ${text};
    ALTER TABLE images ADD COLUMN tags ${text} NOT NULL DEFAULT '[]';
    ALTER TABLE images ADD COLUMN meta ${text} NOT NULL DEFAULT '{}';
    ALTER TABLE images ADD COLUMN focus ${text};
    ALTER TABLE images ADD COLUMN public ${integer} NOT NULL DEFAULT 1;
    ALTER TABLE images ADD COLUMN bytes ${integer};
    ALTER TABLE images ADD COLUMN trashed_at ${integer};
    CREATE TABLE image_tags (
      account_id ${integer} NOT NULL,
      tag ${text} NOT NULL,
      hash ${text} NOT NULL,
      PRIMARY KEY (account_id, tag, hash),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) ${keyed};
    CREATE INDEX image_tags_by_image ON image_tags (account_id, hash);
    CREATE TABLE image_aliases (
      account_id ${integer} NOT NULL,
      name ${text} NOT NULL,
      hash ${text} NOT NULL,
      PRIMARY KEY (account_id, name),
      FOREIGN KEY (account_id, hash) REFERENCES images (account_id, hash) ON DELETE CASCADE
    ) ${keyed};
    CREATE INDEX image_aliases_by_image ON image_aliases (account_id, hash);
    CREATE TABLE image_bans (
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      id ${text} NOT NULL,
      hash ${text},
      dhash ${text},
      distance ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      PRIMARY KEY (account_id, id)
    ) ${keyed};
    CREATE TABLE image_definitions (
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      value ${text} NOT NULL,
      PRIMARY KEY (kind, name)
    ) ${keyed};
`

/**
 * `upload_tickets`: tickets with which visitors upload images, by the digest of the ticket; `terms` is JSON. `uses_left` is without the
 * uses that running uploads have reserved. `ticket_uploads`: their resumable uploads; `parts` is a JSON array of what was received, each
 * with its key in the store of files and its size; `answer` is the JSON of the status and body that the upload ended with, null until
 * then.
 */
const uploads = ({ text, integer, keyed }: Dialect) => `
    CREATE TABLE upload_tickets (
      digest ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      key_id ${text} NOT NULL,
      expires_at ${integer} NOT NULL,
      uses_left ${integer} NOT NULL,
      refusals ${integer} NOT NULL DEFAULT 0,
      terms ${text} NOT NULL
    ) ${keyed};
    CREATE INDEX upload_tickets_by_end ON upload_tickets (expires_at);
    CREATE INDEX upload_tickets_by_account ON upload_tickets (account_id);
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
    ) ${keyed};
    CREATE INDEX ticket_uploads_by_ticket ON ticket_uploads (ticket);
    CREATE INDEX ticket_uploads_by_account ON ticket_uploads (account_id);
    CREATE INDEX ticket_uploads_by_end ON ticket_uploads (expires_at);
`

/**
 * `mail_recipients`: addresses of mails, in lower case, with when their reader confirmed them; `expires_at` is the end of the link to
 * confirm, null until it was sent. Addresses that watches have already are confirmed. `sent_mails`: those of the last day, which are
 * limited. `reminders`: for each number of days before the end of the time for objections at which watches remind, the last record that
 * they were reminded of, in the order of registrations.
 */
const watches = ({ text, integer, table }: Dialect) => `
    CREATE TABLE mail_recipients (
      address ${text} PRIMARY KEY,
      confirmed_at ${integer},
      token_digest ${text} UNIQUE,
      expires_at ${integer},
      attempts ${integer} NOT NULL DEFAULT 0,
      next_at ${integer} NOT NULL DEFAULT 0
    ) ${table};
    CREATE INDEX mail_recipients_by_age ON mail_recipients (expires_at);
    CREATE TABLE sent_mails (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      address ${text} NOT NULL,
      at ${integer} NOT NULL
    ) ${table};
    CREATE INDEX sent_mails_by_account ON sent_mails (account_id, at);
    CREATE INDEX sent_mails_by_address ON sent_mails (address, at);
    CREATE INDEX sent_mails_by_age ON sent_mails (at);
    CREATE INDEX watch_destinations_by_mail ON watch_destinations (lower(address)) WHERE channel = 'mailto';
    INSERT INTO mail_recipients (address, confirmed_at, expires_at)
      SELECT DISTINCT lower(address), 0, 0 FROM watch_destinations WHERE channel = 'mailto';
    CREATE TABLE reminders (
      days ${integer} PRIMARY KEY,
      last_date ${text} NOT NULL,
      last_name ${text} NOT NULL
    ) ${table};
`

/**
 * `audit`: who did what; `id` tells entries of one millisecond apart. `backup_runs`: the last backup, check of a backup and drill, when
 * each was attempted and last succeeded, how long it took, and why it failed. `last_adds`: when each account last added records; it was
 * named like the lists that are fetched regularly.
 *
 * `jobs`: imports and bulk changes. `kind` is `import`, `bulk` or `undo`; `state` is `receiving` (its file, whose receiver was last heard
 * of at `heard_at`), `waiting`, `running`, `done`, `failed` or `stopped`. `request` and `progress` are JSON; `runner` is a random text of
 * the run that may change the progress, `file` its key in the store of files.
 */
const instance = ({ text, integer, keyed }: Dialect) => `
    CREATE TABLE audit (
      at ${integer} NOT NULL,
      id ${text} NOT NULL,
      actor ${text} NOT NULL,
      key_id ${text},
      action ${text} NOT NULL,
      subject ${text} NOT NULL,
      PRIMARY KEY (at, id)
    ) ${keyed};
    CREATE TABLE backup_runs (
      kind ${text} PRIMARY KEY,
      attempted_at ${integer} NOT NULL,
      succeeded_at ${integer},
      duration_ms ${integer} NOT NULL,
      error ${text}
    ) ${keyed};
    ALTER TABLE feeds RENAME TO last_adds;
    CREATE TABLE jobs (
      id ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL REFERENCES accounts (id),
      kind ${text} NOT NULL,
      state ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      started_at ${integer},
      ended_at ${integer},
      heard_at ${integer} NOT NULL,
      request ${text} NOT NULL,
      progress ${text} NOT NULL,
      runner ${text},
      file ${text},
      error ${text}
    ) ${keyed};
    CREATE INDEX jobs_by_account ON jobs (account_id, created_at);
`

/**
 * `domains`: `date_reg` is the registration, or if that is unknown (`date_reg_known` is 0) the deletion. `deleted_after` is the
 * earliest time of the deletion of a free record; of a bought one, earlier deletions change nothing. `past_drops` counts the
 * periods in which it was free before the present one. While `announce_as` is set, the event that it became free waits: it is
 * `added` or `changed`, until `announce_at` or until a list of registrations of the account `announce_for` was read. The end of the
 * wait is a change of that account. `dismissed_by` and `dismissed_at` tell who discarded an earlier record of the name. `status_at` is
 * when the record got its status, and was recorded if that never changed; null if both were before this version. `numbers` is a copy of
 * those of the name.
 *
 * `instance`: `rules_version` grows with each change of the rules, in its transaction. `number_keys` holds all keys of numbers, sorted
 * and separated by spaces.
 */
const columnsOfDomains = ({ text, integer }: Dialect) => `
    ALTER TABLE domains ADD COLUMN date_reg_known ${integer} NOT NULL DEFAULT 1;
    ALTER TABLE domains ADD COLUMN deleted_after ${text};
    ALTER TABLE domains ADD COLUMN past_drops ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE domains ADD COLUMN announce_as ${text};
    ALTER TABLE domains ADD COLUMN announce_at ${integer};
    ALTER TABLE domains ADD COLUMN announce_for ${integer};
    ALTER TABLE domains ADD COLUMN dismissed_by ${text};
    ALTER TABLE domains ADD COLUMN dismissed_at ${integer};
    ALTER TABLE domains ADD COLUMN status_at ${text};
    ALTER TABLE domains ADD COLUMN numbers ${text};
    CREATE INDEX domains_unannounced ON domains (announce_at) WHERE announce_at IS NOT NULL;
    ALTER TABLE instance ADD COLUMN time_zone ${text};
    ALTER TABLE instance ADD COLUMN rules_version ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE instance ADD COLUMN number_keys ${text};
`

/** Whatever reads much of other tables comes before what locks them until the end of the migration. */
const toSql = (dialect: Dialect) =>
  [names, interest, registryLists, images, uploads, watches, instance, columnsOfDomains]
    .map((statements) => statements(dialect))
    .join('')

export const sqliteTables = toSql({
  text: 'TEXT',
  integer: 'INTEGER',
  identity: 'INTEGER PRIMARY KEY',
  table: 'STRICT',
  keyed: 'STRICT, WITHOUT ROWID',
  nameServers: 'name_servers, json_each(servers)',
  mailServers: 'mail_servers, json_each(servers)',
  exchange: "json_extract(value, '$.exchange')",
})

/** Nodes of release 0.1.0 still write the table feeds during a rolling upgrade. */
const FEEDS = `
    CREATE VIEW feeds AS SELECT account_id, added_at FROM last_adds;`

export const postgresTables =
  toSql({
    text: 'text COLLATE "C"',
    integer: 'bigint',
    identity: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    table: '',
    keyed: '',
    nameServers: 'name_servers, jsonb_array_elements_text(servers::jsonb) AS one (value)',
    mailServers: 'mail_servers, jsonb_array_elements(servers::jsonb) AS one (value)',
    exchange: "value ->> 'exchange'",
  }) + FEEDS
