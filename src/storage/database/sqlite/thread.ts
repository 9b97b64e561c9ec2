/**
 * A connection in a worker thread that answers one message after another: the writer (so that neither the fsync of a
 * commit nor a batch of 50,000 rows blocks the event loop) or the scanner (reads of many rows).
 */
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { assertCurrentSchema } from '../database.ts'
import { Connection, isReadOnly, migrate, schemaVersion, untilFree, WriteLock } from './connection.ts'
import { OverloadError, asError } from '../../../lib/errors.ts'
import { toStorageKind } from '../faults.ts'
import type { Answer, Start, Task } from './connection-thread.ts'
import type { SqlValue } from '../sql.ts'

const port = parentPort
if (port === null) throw new Error('sqlite/thread must run as a worker thread')
const { path, mode, migration }: Start = workerData
const { connection, version } = opened()
const lock = new WriteLock(connection)
/** Whether the changes of the current transaction have an author. */
let isAttributed = false

/** Opens the connection and returns it with the version that the schema had. Ends the thread if that fails. */
function opened(): { readonly connection: Connection; readonly version: number } {
  try {
    const connection = new Connection(path, mode, migration === undefined)
    const version = untilFree(() => schemaVersion(connection))
    if (isReadOnly(mode)) return { connection, version }
    if (migration === undefined) {
      const folder = dirname(path)
      assertCurrentSchema(version, `the database in ${folder}`, `there is no database in ${folder}`)
    } else migrate(connection, migration.schema, migration.migrations)
    return { connection, version }
  } catch (error) {
    port?.postMessage(refusal(0, error))
    // The answer has been posted.
    process.exit(1)
  }
}

function refusal(id: number, error: unknown): Answer {
  const fault = asError(error).message
  return { id, fault, busy: error instanceof OverloadError, storage: toStorageKind(error) }
}

/** The triggers that log changes read it. It does not outlast the transaction. */
function setAuthor(account: number | null): void {
  connection.run('UPDATE change_log SET author = ?', [account])
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
      return connection.runMany(task.batch, task.values, rows)
    }
    case 'begin':
      lock.begin()
      isAttributed = task.author !== undefined
      if (task.author !== undefined) setAuthor(task.author)
      return undefined
    case 'commit':
      if (isAttributed) setAuthor(null)
      connection.exec('COMMIT')
      return lock.end()
    case 'rollback':
      // A failed statement may have ended the transaction (disk full, I/O error).
      if (connection.inTransaction) connection.exec('ROLLBACK')
      return lock.end()
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
  if (task.kind === 'close') port.close()
})
port.postMessage({ id: 0, value: version } satisfies Answer)
