import pg from 'pg'

/** Connections of one process unless it is told otherwise, the listening one not counted. */
const DEFAULT_CONNECTIONS = 12

/** Shares of a process's connections, so that scans and writes never take the last one from small reads. */
export function shares(connections = DEFAULT_CONNECTIONS) {
  const scans = Math.max(1, Math.floor(connections / 6))
  const writes = Math.max(1, Math.floor((connections * 5) / 12))
  return { scans, writes, reads: Math.max(1, connections - scans - writes) }
}

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
/**
 * One statement of a transaction that is no batch. It may wait for a row; past that a server that is silent is not
 * waited for, so that a request is told so in time whatever it was doing when the server froze.
 */
export const STATEMENT_SILENCE_MS = LOCK_TIMEOUT_MS + 1_000
/** Bytes of a batch that the server is given another second for. */
const BATCH_BYTES_A_SECOND = 256 * 1024

/** The same for a batch, which takes its time by its size. Milliseconds. */
export function batchSilence(bytes: number): number {
  const most = WRITE_TIMEOUT_MS + SILENCE_MS
  return Math.min(most, STATEMENT_SILENCE_MS + (bytes / BATCH_BYTES_A_SECOND) * 1_000)
}

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
