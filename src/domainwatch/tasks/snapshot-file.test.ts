import assert from 'node:assert/strict'
import fs, { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { cursorAt } from '../../storage/database/changes/change.ts'
import { columnsOf, sizeOf } from '../../lib/name-index/index.ts'
import { aLabelOf } from '../../lib/domain-names.ts'
import type { Snapshot } from './snapshot-file.ts'
import work, { type Input } from './snapshot-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'catalejo-space-'))
after(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'lists')

const empty = {
  columns: columnsOf([], 'registered', aLabelOf),
  live: new Uint32Array(1_000),
}
const snapshot: Snapshot = {
  logPosition: { cursor: cursorAt('0123456789ab', 1), witness: 'change' },
  parts: { registered: [empty], deleted: [] },
}
const size = sizeOf(snapshot.parts)
const write: Input = { kind: 'write', path, version: '1', snapshot, near: 0 }

/** Simulates a disk with this many free bytes. */
function limitSpace(t: TestContext, bytes: number): void {
  const { statfsSync } = fs
  t.mock.method(fs, 'statfsSync', () => ({ ...statfsSync(folder), bsize: 1, bavail: bytes }))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

test('an index that needs more than a third of the free space is not written', (t) => {
  limitSpace(t, 3 * size - 3)
  writeFileSync(path, 'earlier')
  assert.deepEqual(work(write), { kind: 'failed', reason: 'Error: the disk has too little room left' })
  assert.equal(readFileSync(path, 'utf8'), 'earlier')
  assert.equal(existsSync(`${path}.new`), false)
})

test('an index that needs a third of the free space is written', (t) => {
  limitSpace(t, 3 * size)
  assert.deepEqual(work(write), { kind: 'written' })
  const read = work({ kind: 'read', path, version: '1', memory: 2 ** 20 })
  assert.ok(read.kind === 'read')
  assert.deepEqual(read.snapshot, snapshot)
})
