/** What follows from the table of image fields but cannot be derived from it: the schema of the database, and documents. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ANSWER_FIELDS, BLOB_FIELDS, columnOf } from '../../src/imagestore/image-fields.ts'
import { SCHEMA } from '../../src/storage/database/migrations/index.ts'
import { getTables } from '../../src/storage/database/tables.ts'

const root = new URL('../../', import.meta.url)
const toColumns = (name: string) =>
  Object.keys(getTables(SCHEMA).find((table) => table.name === name)?.columns ?? {}).toSorted()

test('each field is a column, and each column a field', () => {
  assert.deepEqual(toColumns('blobs'), BLOB_FIELDS.toSorted())
  // What the table's answers lack: whose it is, its name for searches, its size for sorting, where it came from, and its place in the trash.
  const ownColumns = ['account_id', 'bytes', 'hash', 'ip', 'name_folded', 'trashed_at']
  const answered = [...new Set(Object.values(ANSWER_FIELDS).flat())]
  const fields = answered.filter((name) => columnOf(name).startsWith('images.'))
  assert.deepEqual(toColumns('images'), [...ownColumns, ...fields].toSorted())
})

test('the documents name each field of an answer', () => {
  const text = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !path.startsWith('decisions'))
    .map((path) => readFileSync(new URL(`docs/${path}`, root), 'utf8'))
    .join('\n')
  for (const field of Object.values(ANSWER_FIELDS).flat())
    assert.match(text, new RegExp(`["\`]${field}["\`]`), `${field} is not documented`)
})
