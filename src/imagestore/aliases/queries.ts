import { limit, sql } from '../../storage/database/sql.ts'

/** The image of an alias, expired or not. */
export const aliasTarget = (account: string, name: string) => sql<{ account_id: number; hash: string }>`
  SELECT image_aliases.account_id, image_aliases.hash
  FROM accounts JOIN image_aliases ON image_aliases.account_id = accounts.id
  WHERE accounts.name = ${account} AND image_aliases.name = ${name}`

export const setAlias = (accountId: number, name: string, hash: string) => sql`
  INSERT INTO image_aliases (account_id, name, hash) VALUES (${accountId}, ${name}, ${hash})
  ON CONFLICT (account_id, name) DO UPDATE SET hash = excluded.hash`

export const removeAlias = (accountId: number, name: string) => sql`
  DELETE FROM image_aliases WHERE account_id = ${accountId} AND name = ${name}`

/** @param after the last name of the page before */
export const aliasPage = (accountId: number, after: string, count: number) => sql<{
  name: string
  hash: string
}>`
  SELECT name, hash FROM image_aliases WHERE account_id = ${accountId} AND name > ${after} ORDER BY name ${limit(count)}`
