import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { DomainRecord } from './domains.ts'
import { dropTriggers, preparedUpsert, toRow } from './raw-upsert.ts'

const CHANGES = `
  INSERT INTO changes (at, topic, kind, key, account_id, before, after)
  SELECT 1767182400000, 'domain', 'added', name, NULL, NULL,
    json_array(agent, status, reserved, revision, discarded_at, date_reg, date_mod, released_at)
  FROM domains ORDER BY substr(date_reg, 18), name`

/**
 * Writes records and their changes to the database of a stopped service, as if they had been added. A million take
 * some ten seconds, as indexes are created at the end.
 */
export function fillDatabase(data: string, records: readonly DomainRecord[]): void {
  const db = new DatabaseSync(join(data, 'catalejo.db'))
  db.exec('PRAGMA synchronous = OFF; PRAGMA cache_size = -262144; BEGIN')
  const made = db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema
      WHERE type = 'trigger' OR (type = 'index' AND tbl_name IN ('domains', 'changes') AND sql IS NOT NULL)`,
    )
    .all()
  dropTriggers(db)
  for (const { type, name } of made) if (type === 'index') db.exec(`DROP INDEX ${String(name)}`)
  const store = preparedUpsert(db)
  for (const record of records.toSorted((one, other) => (one.domain < other.domain ? -1 : 1)))
    store(toRow(record))
  db.exec(CHANGES)
  for (const { sql } of made) db.exec(String(sql))
  db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
}
