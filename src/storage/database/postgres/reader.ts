import type { Reader } from '../database.ts'
import type { Query, SqlValue } from '../sql.ts'
import type { PostgresConnection } from './pool.ts'

/** Reads on the connection that `use` hands out. */
export function readerOn(
  use: <T>(work: (connection: PostgresConnection) => Promise<T>) => Promise<T>,
): Reader {
  // The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
  const all = async <Row>(query: Query<Row>) => (await use((connection) => connection.rows(query))) as Row[]
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: (query): Promise<SqlValue[][]> => use((connection) => connection.arrays(query)),
  }
}
