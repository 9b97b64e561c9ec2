/** What is erased must not stay readable in the file: an uploader's address above all. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Connection } from '../../src/storage/database/sqlite/connection.ts'
import { temporaryFolder } from '../support/folder.ts'

const ROWS = 2_500
const address = (i: number) => `203.0.${Math.floor(i / 250)}.${(i % 250) + 1000}`

test('overwritten values and deleted rows leave no bytes in the file', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'erased.db')
  const connection = new Connection(path, 'write')
  connection.run('CREATE TABLE images (id INTEGER PRIMARY KEY, name TEXT, ip TEXT)', [])
  connection.run('BEGIN', [])
  for (let i = 0; i < ROWS; i++) {
    connection.run('INSERT INTO images VALUES (?, ?, ?)', [i, `foto ${i}.jpg`, address(i)])
  }
  connection.run('COMMIT', [])
  const left = async () => {
    connection.all('PRAGMA wal_checkpoint(TRUNCATE)', [])
    const bytes = await readFile(path, 'latin1')
    return Array.from({ length: ROWS }, (_, i) => address(i)).filter((one) => bytes.includes(one)).length
  }
  assert.equal(await left(), ROWS)
  connection.run("UPDATE images SET ip = '' WHERE id % 2 = 0", [])
  assert.equal(await left(), ROWS / 2)
  connection.run('DELETE FROM images WHERE id % 4 = 1', [])
  assert.equal(await left(), ROWS / 4)
  connection.close()
})
