import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultIndexMemory } from './index-memory.ts'

const GIB = 2 ** 30

const USUAL: readonly [processes: number, machine: number, wanted: number][] = [
  [1, 1 * GIB, 0.5 * GIB],
  [1, 4 * GIB, 1 * GIB],
  [2, 4 * GIB, 0.5 * GIB],
  [1, 8 * GIB, 2 * GIB],
  [1, 64 * GIB, 2 * GIB],
  [16, 64 * GIB, 1 * GIB],
]

for (const [processes, machine, wanted] of USUAL) {
  test(`each of ${processes} on a machine of ${machine / GIB} GiB`, () =>
    assert.equal(defaultIndexMemory(processes, machine), wanted))
}

test('on this machine', () => assert.ok(defaultIndexMemory(1) >= 0.5 * GIB))
