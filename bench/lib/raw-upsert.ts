import { DatabaseSync } from 'node:sqlite'
import type { DomainRecord } from './domains.ts'

export type Row = readonly (string | number | null)[]

/** Returns the columns of a record in the order of the statement. */
export function toRow({ domain, length, status, reserve, date_reg }: DomainRecord): Row {
  const ascii = /[^ -~]/.test(domain) ? new URL(`http://${domain}.cl`).hostname.slice(0, -3) : null
  return [domain, ascii, length, null, null, status, reserve, date_reg]
}

/** Drops all triggers, so that only the record is written. */
export function dropTriggers(db: DatabaseSync): void {
  for (const { name } of db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all())
    db.exec(`DROP TRIGGER ${String(name)}`)
}

/** Rows that `import` sorts together, and rows of a transaction. */
const STRETCH = 500_000
const TRANSACTION = 50_000

/** Opens a database of the service without its triggers, with the cache size of `import`. */
export function openBare(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -262144')
  dropTriggers(db)
  return db
}

/** The floor of `import`: bare prepared upserts of the records, sorted by name in chunks. */
export function loadBare(db: DatabaseSync, records: Iterable<DomainRecord>): void {
  const upsert = preparedUpsert(db)
  const store = (stretch: DomainRecord[]) => {
    stretch.sort((one, other) => (one.domain < other.domain ? -1 : 1))
    for (let i = 0; i < stretch.length; i += TRANSACTION) {
      db.exec('BEGIN IMMEDIATE')
      for (const record of stretch.slice(i, i + TRANSACTION)) upsert(toRow(record))
      db.exec('COMMIT')
    }
  }
  let stretch: DomainRecord[] = []
  for (const record of records) {
    if (stretch.push(record) < STRETCH) continue
    store(stretch)
    stretch = []
  }
  store(stretch)
}

/** The floor of operations that store domains: one prepared statement that inserts or updates a row. */
export function preparedUpsert(db: DatabaseSync): (row: Row) => void {
  const statement = db.prepare(`
    INSERT INTO domains (name, ascii, length, agent, agent_folded, status, reserved, date_reg, date_mod)
    VALUES (?4, ?5, ?6, COALESCE(?7, ?2), COALESCE(?8, ?3), ?9, ?10, ?11, ?1)
    ON CONFLICT (name) DO UPDATE SET
      released_at = CASE
        WHEN excluded.status = 1 THEN NULL
        WHEN domains.status = 1 THEN excluded.date_mod
        ELSE domains.released_at
      END,
      status = excluded.status, reserved = excluded.reserved, date_reg = excluded.date_reg,
      agent = COALESCE(?7, domains.agent), agent_folded = COALESCE(?8, domains.agent_folded),
      date_mod = excluded.date_mod
    WHERE domains.status <> excluded.status OR domains.reserved <> excluded.reserved
      OR domains.date_reg <> excluded.date_reg OR domains.agent <> COALESCE(?7, domains.agent)`)
  return (row) => void statement.run('2025-12-31 12:00:00', 'grupo', 'grupo', ...row)
}
