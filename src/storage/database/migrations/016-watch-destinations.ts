const columns = (text: string, integer: string) => `
      id ${text} PRIMARY KEY,
      watch_id ${text} NOT NULL REFERENCES watches (id) ON DELETE CASCADE,
      position ${integer} NOT NULL,
      channel ${text} NOT NULL,
      address ${text} NOT NULL,
      state ${text} NOT NULL,
      cursor ${text} NOT NULL,
      delivery_id ${text},
      delivery_body ${text},
      delivery_cursor ${text},
      attempts ${integer} NOT NULL DEFAULT 0,
      next_at ${integer} NOT NULL DEFAULT 0,
      delivered_at ${integer},
      last_error ${text},
      last_error_at ${integer}`

/** The webhook of a watch was a part of its row. A watch has only one, so its destination can have the same id. */
const moveWebhooks = (condition: string) => `
    INSERT INTO watch_destinations (id, watch_id, position, channel, address, state, cursor, delivery_id, delivery_body,
      delivery_cursor, attempts, next_at, delivered_at, last_error, last_error_at)
    SELECT id, id, 0, 'webhook', url, state, COALESCE(cursor, ''), delivery_id, delivery_body, delivery_cursor, attempts,
      next_at, delivered_at, last_error, last_error_at
    FROM watches WHERE url IS NOT NULL ${condition};
    UPDATE watches SET url = NULL, state = 'active', cursor = NULL, delivery_id = NULL, delivery_body = NULL,
      delivery_cursor = NULL, attempts = 0, next_at = 0, delivered_at = NULL, last_error = NULL, last_error_at = NULL
    WHERE url IS NOT NULL ${condition};`

const BY_WATCH = `CREATE INDEX watch_destinations_by_watch ON watch_destinations (watch_id, position);`

/**
 * Where notifications of a watch are sent. Each destination has its own position in the changes and its own pending
 * delivery, which is stored so that it is the same after a crash. digest is HH:MM, or NULL for immediate messages.
 */
export const watchDestinations = {
  version: 16,
  sqlite: `
    ALTER TABLE watches ADD COLUMN language TEXT NOT NULL DEFAULT 'es';
    ALTER TABLE watches ADD COLUMN digest TEXT;
    CREATE TABLE watch_destinations (${columns('TEXT', 'INTEGER')}
    ) STRICT;
    ${BY_WATCH}
    ${moveWebhooks('')}
  `,
  // Nodes of the version before still create watches during a rolling upgrade.
  postgres: `
    ALTER TABLE watches ADD COLUMN language text COLLATE "C" NOT NULL DEFAULT 'es';
    ALTER TABLE watches ADD COLUMN digest text COLLATE "C";
    CREATE TABLE watch_destinations (${columns('text COLLATE "C"', 'bigint')}
    );
    ${BY_WATCH}
    ${moveWebhooks('')}
    CREATE FUNCTION catalejo_watch_webhook() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ${moveWebhooks('AND id = NEW.id')}
      RETURN NULL;
    END $$;
    CREATE TRIGGER watch_webhook AFTER INSERT ON watches FOR EACH ROW WHEN (NEW.url IS NOT NULL)
      EXECUTE FUNCTION catalejo_watch_webhook();
  `,
}
