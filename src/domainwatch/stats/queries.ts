import { sql } from '../../storage/database/sql.ts'

/** All domainwatch accounts, and when each last added records: milliseconds since 1970. */
export const lastAdds = () => sql<{ account: string; added_at: number | null }>`
  SELECT accounts.name AS account, last_adds.added_at
  FROM accounts LEFT JOIN last_adds ON last_adds.account_id = accounts.id
  WHERE accounts.service = 'domainwatch' ORDER BY accounts.name`
