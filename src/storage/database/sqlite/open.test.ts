import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { openSqlite } from './open.ts'

test('closing abandons checks and snapshots, and leaves no connection behind', async () => {
  await using folder = await temporaryFolder()
  const database = await openSqlite(join(folder.path, 'test.db'))
  const check = database.check()
  database.snapshot(() => new Promise<never>(() => {})).catch(() => {})
  await Promise.all([database.close(), check])
  // The last connection to close removes the log.
  assert.deepEqual(await readdir(folder.path), ['test.db'])
})
