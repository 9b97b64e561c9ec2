import { sql } from '../sql.ts'
import type { PostgresConnection } from './pool.ts'

/** What its catalogue says of indexes that were not finished and of constraints that were never checked. */
export async function checkPostgres(connection: PostgresConnection): Promise<string[]> {
  const rows = await connection.rows(sql`
    SELECT 'the index ' || relname || ' is not valid' AS fault
    FROM pg_index
    JOIN pg_class ON pg_class.oid = indexrelid
    WHERE NOT indisvalid AND relnamespace = current_schema()::regnamespace
    UNION ALL
    SELECT 'the constraint ' || conname || ' was never checked'
    FROM pg_constraint
    WHERE NOT convalidated AND connamespace = current_schema()::regnamespace`)
  return rows.map(({ fault }) => String(fault))
}
