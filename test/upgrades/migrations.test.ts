import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { migrations } from '../../src/storage/database/migrations/index.ts'

/** Of the released steps. A step that changes afterwards leaves databases that took it as it was. */
const HASHES = [
  { sqlite: '8c8e1387e2493101', postgres: '847074403f52dc7b' },
  { sqlite: '053c1fba144498f2', postgres: '029896d2d148b7c4' },
  { sqlite: 'da84003ea1a688e0', postgres: 'bc5b07e53afdf47a' },
  { sqlite: '8ce6930464d64631', postgres: 'a417238635dcab25' },
  { sqlite: '86c080ecf251e855', postgres: '4bc51a418a67d0ed' },
  { sqlite: '5c13813cc55465bd', postgres: '3449b48e94df6565' },
  { sqlite: 'c13675bbcbe34cee', postgres: '374ed34ea1cb0462' },
  { sqlite: 'c3765321de829fcf', postgres: 'dd0253f3dfc3f518' },
  { sqlite: 'b9febed22f2bbeac', postgres: '47f0320e003a9494' },
  { sqlite: '2fd5f848057c9b06', postgres: 'c575e0e3fc3aca0c' },
  { sqlite: '8d17c5d3cfa3878e', postgres: 'f5a3020ea9934fbb' },
  { sqlite: '17680ca8ac28944b', postgres: 'd84752e0198a2fc7' },
  { sqlite: 'fbd0823d369bc06b', postgres: '7e606ce2517f5edb' },
]

test('no released migration has changed', () => {
  const hashes = migrations.map(({ sqlite, postgres }) => ({
    sqlite: hash('sha256', sqlite).slice(0, 16),
    postgres: hash('sha256', postgres).slice(0, 16),
  }))
  assert.deepEqual(
    hashes.slice(0, HASHES.length),
    HASHES,
    'a released migration was edited: add a step instead',
  )
  assert.equal(migrations.length, HASHES.length, `add the new step's: ${JSON.stringify(hashes.at(-1))}`)
})
