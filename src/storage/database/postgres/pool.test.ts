import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DatabaseFault } from './faults.ts'
import { inTransaction } from './pool.ts'

const FAILURES: readonly [name: string, message: string, sent: readonly string[]][] = [
  ['a statement that fails ends the transaction', 'a value is invalid', ['BEGIN', 'COMMIT']],
  ['nothing is sent after a statement that the server does not answer', 'Query read timeout', ['BEGIN']],
]

for (const [name, message, expected] of FAILURES) {
  test(name, async () => {
    const sent: string[] = []
    const connection = {
      all: async () => [],
      values: async () => [],
      several: async () => [],
      async run(text: string) {
        sent.push(text)
        return 0
      },
    }
    const fault = new DatabaseFault(new Error(message))
    await assert.rejects(
      inTransaction(connection, 'BEGIN', () => Promise.reject(fault)),
      fault,
    )
    assert.deepEqual(sent, expected)
  })
}
