const columns = (text: string, integer: string) => `
    ALTER TABLE watches ADD COLUMN shared ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE watches ADD COLUMN paused ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE watches ADD COLUMN version ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE watches ADD COLUMN previous_secret ${text};
    ALTER TABLE watches ADD COLUMN previous_secret_until ${integer};
    ALTER TABLE watches ADD COLUMN deliveries ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE watch_destinations ADD COLUMN resumes ${integer} NOT NULL DEFAULT 0;
    CREATE INDEX watches_shared ON watches (created_at, id) WHERE shared = 1;

    CREATE TABLE watch_deliveries (
      watch_id ${text} NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
      number ${integer} NOT NULL,
      id ${text} NOT NULL UNIQUE,
      destination_id ${text} NOT NULL,
      channel ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      events ${integer} NOT NULL,
      state ${text} NOT NULL,
      attempts ${integer} NOT NULL DEFAULT 0,
      code ${integer},
      duration_ms ${integer},
      error ${text},
      body ${text},
      replay_at ${integer},
      PRIMARY KEY (watch_id, number)
    )`

const INDEXES = `
    CREATE INDEX watch_deliveries_by_age ON watch_deliveries (created_at);
    CREATE INDEX watch_deliveries_to_replay ON watch_deliveries (destination_id, replay_at) WHERE replay_at IS NOT NULL;`

/**
 * Editing, pausing and sharing of watches, secrets that overlap after a rotation, and the deliveries of the last 30
 * days. `version` counts the edits of a watch, `resumes` how often an immediate attempt of a pending delivery was
 * requested: notifiers compare them. `deliveries` counts the deliveries that a watch ever began, which gives each
 * its number.
 */
export const watchDeliveries = {
  version: 20,
  sqlite: `${columns('TEXT', 'INTEGER')} STRICT;${INDEXES}`,
  postgres: `${columns('text COLLATE "C"', 'bigint')};${INDEXES}`,
}
