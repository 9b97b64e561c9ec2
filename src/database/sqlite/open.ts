import { ChangeFeed } from '../changes/feed.ts'
import { newestChange } from '../changes/queries.ts'
import type { Database, ObserveDatabase, Reader, Transaction } from '../database.ts'
import { sql, type Query, type SqlValue } from '../sql.ts'
import { clientOf, turnsFor } from '../turns.ts'
import { batchPlan } from './batch.ts'
import { checkSqlite } from './check.ts'
import { Connection } from './connection.ts'
import { sqliteDialect } from './dialect.ts'
import { readSnapshot } from './snapshot.ts'
import { ConnectionThread } from './thread-client.ts'
import { CommitWatch } from './watch.ts'

export interface OpenOptions {
  /** Go up to this version of the schema only. */
  readonly schema?: number | undefined
  /** For a process that does nothing but store a great many records: more memory is worth it. */
  readonly load?: boolean
}

/**
 * Opens (and makes or migrates) the SQLite file at `path`. Small reads run on the caller's thread, where they
 * cost microseconds; writes and scans have a thread each.
 */
export async function openSqlite(
  path: string,
  observe: ObserveDatabase = () => {},
  { schema, load = false }: OpenOptions = {},
): Promise<Database> {
  const writer = await ConnectionThread.open(path, load ? 'load' : 'write', { schema })
  const scanner = await ConnectionThread.open(path, 'read')
  const reader = new Connection(path, 'read')
  const watch = new CommitWatch(reader)
  // SQLite has one writer.
  const writes = turnsFor('write', 1)
  const scans = turnsFor('scan', 1)
  const scannerFor = (account?: number) =>
    threadReader(scanner, (work) => timed('scan', observe, () => scans.run(clientOf(account), work)))

  const tx = writingTransaction(writer)
  const here = readerHere(reader, observe)
  let closing: Promise<void> | undefined

  return {
    dialect: sqliteDialect,
    ...here,
    scanner: scannerFor(),
    scannerOf: scannerFor,

    transaction: (work, author) =>
      timed('write', observe, () =>
        writes.run(clientOf(author), async () => {
          await writer.send({ kind: 'begin' })
          try {
            if (author !== undefined) await tx.run(sql`UPDATE change_log SET author = ${author}`)
            const result = await work(tx)
            if (author !== undefined) await tx.run(sql`UPDATE change_log SET author = NULL`)
            await writer.send({ kind: 'commit' })
            watch.committed()
            return result
          } catch (error) {
            await writer.send({ kind: 'rollback' })
            throw error
          }
        }),
      ),

    snapshot: (work) => readSnapshot(path, (thread) => work(threadReader(thread, (read) => read()))),

    check: () => checkSqlite(path),
    version: (topic) => watch.version(topic),
    changes: new ChangeFeed(here, watch, sqliteDialect),
    ping: async () => {
      if (!writer.alive || !scanner.alive) throw new Error('a database thread ended')
      reader.first('SELECT count(*) FROM accounts', [])
    },
    stats: () => ({ waitingWrites: writes.waiting, waitingScans: scans.waiting }),

    close: () => (closing ??= close()),
  }

  async function close(): Promise<void> {
    watch.close()
    await writes.run(clientOf(undefined), async () => {
      reader.close()
      await scanner.close()
      // Last, because the last connection to close moves the log into the database file.
      await writer.close()
    })
  }
}

async function timed<T>(
  operation: 'scan' | 'write',
  observe: ObserveDatabase,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now()
  try {
    return await work()
  } finally {
    observe(operation, (performance.now() - start) / 1000)
  }
}

/** Reads on the caller's own thread. */
function readerHere(connection: Connection, observe: ObserveDatabase): Reader {
  function read<T>(operation: () => T): T {
    const start = performance.now()
    try {
      return operation()
    } finally {
      observe('read', (performance.now() - start) / 1000)
    }
  }

  return {
    all: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row[]>(connection.all(query.sql, parameters(query)))),
    first: async <Row>(query: Query<Row>) =>
      read(() => trusted<Row | undefined>(connection.first(query.sql, parameters(query)))),
    values: async (query) => read(() => connection.values(query.sql, parameters(query))),
  }
}

/** What a transaction may do, between its begin and its end. */
function writingTransaction(writer: ConnectionThread): Transaction {
  const reads = threadReader(writer, (work) => work())
  return {
    ...reads,
    run: async (query) =>
      Number(await writer.send({ kind: 'run', text: query.sql, values: parameters(query) })),
    runMany: async (batch, constants, rows) =>
      Number(
        await writer.send(
          { kind: 'runMany', plan: batchPlan(batch), values: constants, rows },
          transferable(rows),
        ),
      ),
    newestChange: async () => Number((await reads.first(newestChange()))?.id),
  }
}

/** Reads on a connection in a thread, each run by `run`. */
function threadReader(thread: ConnectionThread, run: <T>(work: () => Promise<T>) => Promise<T>): Reader {
  async function all<Row>(query: Query<Row>): Promise<Row[]> {
    const work = () => thread.send({ kind: 'all', text: query.sql, values: parameters(query) })
    return trusted<Row[]>(await run(work))
  }
  return {
    all,
    first: async (query) => (await all(query))[0],
    values: async (query) => {
      const work = () => thread.send({ kind: 'values', text: query.sql, values: parameters(query) })
      return trusted<SqlValue[][]>(await run(work))
    },
  }
}

function parameters(query: Query): SqlValue[] {
  return query.values.map((value) => {
    if (value === null || typeof value === 'string' || typeof value === 'number') return value
    if (typeof value === 'bigint' || value instanceof Uint8Array) return value
    throw new TypeError(`a ${typeof value} is no SQL value`)
  })
}

// The engine cannot know a statement's row type: the statement's own declaration is trusted, here only.
function trusted<T>(value: unknown): T {
  return value as T
}

function transferable(bytes: Uint8Array): ArrayBuffer[] {
  const whole = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength
  return whole && bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : []
}
