/**
 * A connection in a thread of its own, answering one message after another: the writer (so that a commit's
 * fsync or a batch of 50,000 rows never holds the event loop) and the scanner (reads of many rows).
 */
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { assertCurrentSchema } from '../open-options.ts'
import { Connection } from './connection.ts'
import { migrate, schemaVersion } from './migrate.ts'
import { OverloadError } from '../../../lib/errors.ts'
import { storageKindOf } from './faults.ts'
import type { Answer, Start, Task } from './connection-thread.ts'
import { runMany } from './batch.ts'
import type { SqlValue } from '../sql.ts'
import { WriteLock } from './write-lock.ts'

const port = parentPort
if (port === null) throw new Error('sqlite/thread must run as a worker thread')
const { path, mode, migration }: Start = workerData
const { connection, version } = opened()
const turns = new WriteLock(connection)
/** Rows from which on moving the log into the file takes noticeably long. */
const LARGE_BATCH = 1_000
/** Whether the transaction that is under way stores so much that its pages are moved into the file behind the answer. */
let isLarge = false

/** The connection, and the schema that the database was at. Ends the thread where it cannot be opened. */
function opened(): { readonly connection: Connection; readonly version: number } {
  try {
    const connection = new Connection(path, mode, migration === undefined)
    const version = schemaVersion(connection)
    if (mode === 'read') return { connection, version }
    if (migration === undefined) {
      const folder = dirname(path)
      assertCurrentSchema(version, `the database in ${folder}`, `there is no database in ${folder}`)
    } else migrate(connection, migration.schema, migration.migrations)
    return { connection, version }
  } catch (error) {
    port?.postMessage(refusal(0, error))
    // The answer is on its way; nothing is left to do here.
    process.exit(1)
  }
}

function refusal(id: number, error: unknown): Answer {
  const fault = error instanceof Error ? error.message : String(error)
  return { id, fault, busy: error instanceof OverloadError, storage: storageKindOf(error) }
}

function perform(task: Task): unknown {
  switch (task.kind) {
    case 'all':
      return connection.all(task.text, task.values)
    case 'values':
      return connection.values(task.text, task.values)
    case 'run':
      return connection.run(task.text, task.values)
    case 'runMany': {
      const rows: SqlValue[][] = JSON.parse(Buffer.from(task.rows).toString())
      isLarge ||= rows.length >= LARGE_BATCH
      return runMany(connection, task.batch, task.values, rows)
    }
    case 'begin':
      return turns.begin()
    case 'commit':
      // The log is on stable storage: what it holds comes into the file later, which takes as long again.
      if (isLarge) connection.keepLog()
      connection.exec('COMMIT')
      return turns.end()
    case 'rollback':
      // A failed statement may have ended the transaction by itself (disk full, I/O error).
      if (connection.inTransaction) connection.exec('ROLLBACK')
      return turns.end()
    case 'close':
      connection.close()
      return undefined
  }
}

port.on('message', (task: Task) => {
  let answer: Answer
  try {
    answer = { id: task.id, value: perform(task) }
  } catch (error) {
    answer = refusal(task.id, error)
  }
  port.postMessage(answer)
  if (isLarge && (task.kind === 'commit' || task.kind === 'rollback')) {
    isLarge = false
    connection.moveLog()
  }
  if (task.kind === 'close') port.close()
})
port.postMessage({ id: 0, value: version } satisfies Answer)
