/** `npm test` as one test, for scripts/coverage.ts. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

test('npm test', async () => {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  // Functions that come out of the compile cache are not counted. Standard output belongs to the test runner.
  const env = { ...environment, NODE_DISABLE_COMPILE_CACHE: '1' }
  const arguments_ = ['test', '--', ...process.argv.slice(2)]
  const tests = spawn('npm', arguments_, {
    env,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  const [code]: unknown[] = await once(tests, 'exit')
  assert.equal(code, 0)
})
