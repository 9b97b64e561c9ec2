import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { migrations } from '../../src/storage/database/migrations/index.ts'

/** Hashes of the released migrations. One that changed afterwards would leave databases that ran it as it was. */
const HASHES = [
  { version: 22, sqlite: '5d5f93d6dcd4f018', postgres: '5c1368f6ee50e2d1' },
  { version: 45, sqlite: '4651296799a341bb', postgres: '495f64920c0679b5' },
]

test('no released migration has changed', () => {
  const hashes = migrations.map(({ version, sqlite, postgres }) => ({
    version,
    sqlite: hash('sha256', sqlite).slice(0, 16),
    postgres: hash('sha256', postgres).slice(0, 16),
  }))
  assert.deepEqual(
    hashes.slice(0, HASHES.length),
    HASHES,
    'a released migration was edited: add a migration instead',
  )
  assert.equal(migrations.length, HASHES.length, `add the new one's: ${JSON.stringify(hashes.at(-1))}`)
})
