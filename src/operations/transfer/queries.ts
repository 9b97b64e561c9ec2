import { sql } from '../../storage/database/sql.ts'

export const firstAccount = () => sql<{ name: string; created_at: number }>`
  SELECT name, created_at FROM accounts ORDER BY id LIMIT 1`

export const imageByKey = (key: string) => sql<{ key: string }>`SELECT key FROM blobs WHERE key = ${key}`
