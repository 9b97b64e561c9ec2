import assert from 'node:assert/strict'
import { test } from 'node:test'
import { combineFailures, type ServerFailure } from './lookup.ts'

const cases: readonly [readonly ServerFailure[], string][] = [
  [['failed', 'silent', 'refused'], 'failed'],
  [['silent', 'refused', 'unreachable'], 'timeout'],
  [['silent', 'unreachable'], 'timeout'],
  [['refused', 'unreachable'], 'refused'],
  [['refused', 'refused'], 'refused'],
  [['unreachable'], 'failed'],
]
for (const [failures, kind] of cases) {
  test(`${failures.join(', ')}: ${kind}`, () => assert.deepEqual(combineFailures(failures), { kind }))
}
