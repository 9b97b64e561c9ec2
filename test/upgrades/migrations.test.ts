import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { migrations } from '../../src/storage/database/migrations/index.ts'

/** Hashes of the released migrations. One that changed afterwards would leave databases that ran it as it was. */
const HASHES = [
  { version: 13, sqlite: '6d7cc569e04d7f95', postgres: 'f044492ec5a07614' },
  { version: 14, sqlite: '130e60ef483e9b7a', postgres: 'f0a4069ca2088e3f' },
  { version: 15, sqlite: '1801e1a606225da6', postgres: '626bd05bfa7836b6' },
  { version: 16, sqlite: '0795b47b0e38fada', postgres: 'b509f00ba79743f5' },
  { version: 17, sqlite: '2adb6e5a2f3b8aea', postgres: '75e98517c59edb9a' },
  { version: 18, sqlite: '2ca37ac403d16fde', postgres: 'f7ac0a47aa62c034' },
  { version: 20, sqlite: 'f26c925afd1d4a10', postgres: '06a98fedf27e619a' },
  { version: 21, sqlite: '90101f6b759fb80f', postgres: '6fa6d0a80cb2e8b8' },
  { version: 22, sqlite: '3863f3eca9c22f1f', postgres: '583fd5985f03b92a' },
  { version: 45, sqlite: '4651296799a341bb', postgres: '7b2aa4e150df31ca' },
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
