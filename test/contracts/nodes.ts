import type { Database } from '../../src/storage/database/database.ts'
import { sql } from '../../src/storage/database/sql.ts'
import { recordDomains } from '../../src/domainwatch/queries-batches.ts'

export const NOW = '2026-01-02 03:04:05'
export const DATE = '2025-12-31 14:30:34'

/** How an implementation is opened: a second opening is another process (or node) on the same data. */
export interface OpenDatabase {
  open(): Promise<Database>
  remove(): Promise<void>
}

export interface TwoNodes {
  readonly place: OpenDatabase
  readonly database: Database
  readonly other: Database
  close(): Promise<void>
}

/** A place with two nodes on it. */
export async function openTwo(make: () => Promise<OpenDatabase>): Promise<TwoNodes> {
  const place = await make()
  const database = await place.open()
  const other = await place.open()
  return {
    place,
    database,
    other,
    async close() {
      await Promise.all([database.close(), other.close()])
      await place.remove()
    },
  }
}

export type DomainRow = readonly (string | number | null)[]

/** What a batch says of a domain. */
export const row = (
  domain: string,
  { agent = null, status = 1 }: { agent?: string | null; status?: number } = {},
): DomainRow => [domain, null, domain.length, agent, agent, status, 0, DATE, null]

/** @param author the id of the account on whose behalf it is */
export const recordOn = (
  node: Database,
  batch: readonly DomainRow[],
  { account = 'grupo', now = NOW, author }: { account?: string; now?: string; author?: number } = {},
) =>
  node.transaction(
    (tx) => tx.runMany(recordDomains, [now, account, account], Buffer.from(JSON.stringify(batch))),
    author,
  )

/** A table of texts alone. */
export const insertTrash = (key: string) => sql`INSERT INTO blob_trash (key) VALUES (${key})`
export const removeTrash = (key: string) => sql`DELETE FROM blob_trash WHERE key = ${key}`
export const findTrash = (key: string) => sql<{ key: string }>`SELECT key FROM blob_trash WHERE key = ${key}`
