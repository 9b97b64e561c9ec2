import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { createProgress } from './progress.ts'

function watch(output: { isTTY?: boolean; columns?: number }) {
  let written = ''
  let now = 0
  const progress = createProgress({ ...output, write: (text: string) => (written += text) }, () => now)
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
  test('prints plain lines without a terminal, and the final count', () => {
    const { progress, at, take } = watch({})
    progress.begin('blobs', 4)
    at(2_000)
    progress.add(3, 6_000_000)
    progress.add(1)
    progress.end()
    assert.equal(take(), 'blobs: 4 of 4, 100 %, 2/s, 3.0 MB/s, after 0:02\n')
    progress.end()
    assert.equal(take(), '')
  })

  test('prints a plain line every five seconds', (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const { progress, at, take } = watch({})
    progress.begin('blobs', 200, 100)
    at(5_000)
    progress.add(10)
    context.mock.timers.tick(4_999)
    assert.equal(take(), '')
    context.mock.timers.tick(1)
    assert.equal(take(), 'blobs: 110 of 200, 55 %, 2/s, 0:45 left\n')
  })

  test('redraws one line on a terminal, within its width', (context) => {
    context.mock.timers.enable({ apis: ['setInterval'] })
    const { progress, at, take } = watch({ isTTY: true, columns: 20 })
    progress.begin('blobs', 10_000)
    take()
    at(100_000)
    progress.add(2_500)
    context.mock.timers.tick(200)
    assert.equal(take(), '\r\u001b[Kblobs: 2500 of 1000')
  })

  test('shows one step after the other, also of bytes, of unknown and of zero total', () => {
    const { progress, at, take } = watch({})
    progress.begin('rows')
    at(3_700_000)
    progress.add(37)
    progress.begin('list.csv', 123_456_789, 0, 'bytes')
    assert.equal(take(), 'rows: 37, 0/s, after 1:01:40\n')
    at(3_710_000)
    progress.add(41_500_000)
    progress.begin('blobs', 0)
    assert.equal(take(), 'list.csv: 41.5 MB of 123.5 MB, 33 %, 4.2 MB/s, 0:20 left\n')
    progress.end()
    assert.equal(take(), 'blobs: 0 of 0, 100 %, after 0:00\n')
  })
})
