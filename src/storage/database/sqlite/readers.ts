import type { ObserveDatabase, Reader, Transaction, OpenOptions } from '../database.ts'
import { newestChange } from '../changes/change-log.ts'
import { StorageFault, onStorage } from '../faults.ts'
import { sqlValues, type Query, type SqlValue } from '../sql.ts'
import { sqliteBatch } from '../batch.ts'
import type { Connection } from './connection.ts'
import type { ConnectionThread } from './connection-thread.ts'
import { ownsBuffer } from '../../../lib/release-buffer.ts'

/** Returns a reader on the caller's own thread. */
export function mainThreadReader(
  connection: Connection,
  path: string,
  observe: ObserveDatabase,
  onFault: OpenOptions['onFault'],
): Reader {
  function read<T>(operation: () => T): T {
    const start = performance.now()
    try {
      return onStorage(path, operation)
    } catch (error) {
      if (error instanceof StorageFault) onFault?.(error)
      throw error
    } finally {
      observe('read', (performance.now() - start) / 1000)
    }
  }

  return {
    all: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row[]>(connection.all(query.sql, sqlValues(query)))),
    first: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row | undefined>(connection.first(query.sql, sqlValues(query)))),
    values: async (query) => read(() => connection.values(query.sql, sqlValues(query))),
  }
}

/** Returns the operations of a transaction, between its begin and its end. */
export function writingTransaction(writer: ConnectionThread): Transaction {
  const reads = threadReader(writer, (work) => work())
  return {
    ...reads,
    run: async (query) =>
      Number(await writer.send({ kind: 'run', text: query.sql, values: sqlValues(query) })),
    runMany: async (batch, constants, rows) =>
      Number(
        await writer.send(
          { kind: 'runMany', batch: sqliteBatch(batch), values: constants, rows },
          ownsBuffer(rows) ? [rows.buffer] : [],
        ),
      ),
    newestChange: async () => Number((await reads.first(newestChange()))?.id),
  }
}

/** Returns a reader on a connection in a thread, each read run by `run`. */
export function threadReader(
  thread: ConnectionThread,
  run: <T>(work: () => Promise<T>) => Promise<T>,
): Reader {
  async function all<Row>(query: Query<Row>): Promise<Row[]> {
    const work = () => thread.send({ kind: 'all', text: query.sql, values: sqlValues(query) })
    return trusted<Row[]>(await run(work))
  }
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: async (query) => {
      const work = () => thread.send({ kind: 'values', text: query.sql, values: sqlValues(query) })
      return trusted<SqlValue[][]>(await run(work))
    },
  }
}

// The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
function trusted<T>(value: unknown): T {
  return value as T
}
