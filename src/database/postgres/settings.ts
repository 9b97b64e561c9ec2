import pg from 'pg'

/** Connections of one process, or of all that share a machine; the listening one of each not counted. */
export const MAX_CONNECTIONS = 12

/** From asking for a connection (in line, or to the server) until the caller is told to come back. */
const CONNECT_TIMEOUT_MS = 5_000
/** A small read. */
export const READ_TIMEOUT_MS = 5_000
/** A read of many rows. */
export const SCAN_TIMEOUT_MS = 15_000
/** One statement of a transaction: a batch of 50,000 rows takes some seconds. */
export const WRITE_TIMEOUT_MS = 30_000
/** Waiting for somebody else's row. */
const LOCK_TIMEOUT_MS = 10_000
/** A transaction whose process fell silent. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000
/** The server ends a statement first; should it not answer at all, the connection is cut this much later. */
export const SILENCE_MS = 2_000

/** bigint, which by default comes as text: our numbers (moments, sizes, counts) all fit a double. */
const INT8 = 20

/** Settings of every connection. Nothing here is a session's: a pooler may hand each transaction to another one. */
export function connectionSettings(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'catalejo',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format),
    },
  }
}

/** A transaction's limits, for the transaction alone. Times in milliseconds. */
export function localLimits(statementMs: number): string {
  return (
    `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ` +
    `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS}`
  )
}
