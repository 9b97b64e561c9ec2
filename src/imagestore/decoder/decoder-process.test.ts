import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { UNCHANGED } from '../modifiers/index.ts'
import { createImageEngine } from './index.ts'

const quick = fileURLToPath(new URL('../../../test/fixtures/dhash/rgb.png', import.meta.url))
const noProc = process.platform !== 'linux' && 'no /proc'
/** Of processor time; the limit on the duration is four times that. */
const timeoutMs = 1_600

test('a job without processor time gets more time, up to a limit', { skip: noProc }, async () => {
  const engine = createImageEngine({ workers: 1, timeoutMs })
  after(() => engine.close())
  await engine.inspect(quick)
  const [pid] = engine.stats().pids
  assert.ok(pid !== undefined)
  // As if other processes used all processors.
  process.kill(pid, 'SIGSTOP')
  const job = engine.inspect(quick)
  await pause(timeoutMs * 1.5)
  process.kill(pid, 'SIGCONT')
  assert.equal((await job).kind, 'image')
  assert.deepEqual(engine.stats().pids, [pid])

  process.kill(pid, 'SIGSTOP')
  assert.deepEqual(await engine.derive(quick, UNCHANGED), { kind: 'too-slow' })
  assert.equal(engine.stats().restarts, 1)
  assert.equal((await engine.inspect(quick)).kind, 'image')
})
