/**
 * A connection in a thread of its own, answering one message after another: the writer (so that a commit's
 * fsync or a batch of 50,000 rows never holds the event loop) and the scanner (reads of many rows).
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from './connection.ts'
import { migrate } from './migrate.ts'
import type { Answer, Start, Task } from './messages.ts'

const port = parentPort
if (port === null) throw new Error('sqlite/thread must run as a worker thread')
const { path, mode, schema }: Start = workerData
const connection = new Connection(path, mode)
if (mode === 'write') migrate(connection, schema)

function perform(task: Task): unknown {
  switch (task.kind) {
    case 'all':
      return connection.all(task.text, task.values)
    case 'values':
      return connection.values(task.text, task.values)
    case 'run':
      return connection.run(task.text, task.values)
    case 'runMany':
      return connection.runMany(task.text, task.values, JSON.parse(Buffer.from(task.rows).toString()))
    case 'rollback':
      // A failed statement may have ended the transaction by itself (disk full, I/O error).
      if (connection.inTransaction) connection.exec('ROLLBACK')
      return undefined
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
    answer = { id: task.id, fault: error instanceof Error ? error.message : String(error) }
  }
  port.postMessage(answer)
  if (task.kind === 'close') port.close()
})
port.postMessage({ id: 0, value: undefined } satisfies Answer)
