import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { UNCHANGED } from '../modifiers/index.ts'
import { ImageEngine } from './index.ts'

const quick = fileURLToPath(new URL('../../../test/fixtures/dhash/rgb.png', import.meta.url))

test(
  'a process that hangs is ended when its time is up',
  { skip: process.platform === 'win32' },
  async () => {
    // Long enough for a quick job on a busy machine.
    const engine = new ImageEngine({ workers: 1, timeoutMs: 3_000 })
    after(() => engine.close())
    await engine.inspect(quick)
    const [pid] = engine.stats().pids
    assert.ok(pid !== undefined)
    process.kill(pid, 'SIGSTOP')
    assert.deepEqual(await engine.derive(quick, UNCHANGED), { kind: 'too-slow' })
    assert.equal(engine.stats().restarts, 1)
    assert.equal((await engine.inspect(quick)).kind, 'image')
  },
)
