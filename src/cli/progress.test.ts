import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createProgress } from './output.ts'

function watch() {
  let written = ''
  let now = 0
  const progress = createProgress({ write: (text: string) => Boolean((written += text)) }, () => now)
  return {
    progress,
    at: (ms: number) => (now = ms),
    /** Returns what was written since the last call. */
    take: () => {
      const taken = written
      written = ''
      return taken
    },
  }
}

suite('progress', { timeout: 60_000 }, () => {
  test('prints the final count', () => {
    const { progress, at, take } = watch()
    progress.begin('blobs', 4)
    at(2_000)
    progress.add(3)
    progress.add(1)
    progress.end()
    assert.equal(take(), 'blobs: 4 of 4, 100 %, after 2 s\n')
    progress.end()
    assert.equal(take(), '')
  })

  test('prints a line every five seconds', (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const { progress, at, take } = watch()
    progress.begin('blobs', 200, 100)
    at(5_000)
    progress.add(10)
    context.mock.timers.tick(4_999)
    assert.equal(take(), '')
    context.mock.timers.tick(1)
    assert.equal(take(), 'blobs: 110 of 200, 55 %, 45 s left\n')
  })

  test('shows one step after the other, also of bytes, of unknown and of zero total', () => {
    const { progress, at, take } = watch()
    progress.begin('rows')
    at(3_700_000)
    progress.add(37)
    progress.begin('list.csv', 123_456_789, 0, 'bytes')
    assert.equal(take(), 'rows: 37, after 3700 s\n')
    at(3_710_000)
    progress.add(41_500_000)
    progress.begin('blobs', 0)
    assert.equal(take(), 'list.csv: 41.5 MB of 123.5 MB, 33 %, 20 s left\n')
    progress.end()
    assert.equal(take(), 'blobs: 0 of 0, 100 %, after 0 s\n')
  })
})
