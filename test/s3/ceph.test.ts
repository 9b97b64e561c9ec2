/**
 * Runs what needs a real object store against a Ceph cluster that it starts: the contract of blob stores, the
 * behaviour of a real gateway, and tests that read, replace and delete objects in ways that the contract on two nodes,
 * which keeps its images there too, leaves out.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noCeph, startCeph, type Ceph } from '../support/ceph.ts'

const TESTS = fileURLToPath(new URL('../', import.meta.url))

const FILES = [
  'contracts/blob-stores',
  's3/gateway',
  'integrity/stores',
  'integrity/verify',
  'transfer/s3',
  'domainwatch/import-over-http',
  'imagestore/derivative-cache',
  'imagestore/link-changed-meanwhile',
  'imagestore/trash',
  'imagestore/upload-left',
].map((name) => join(TESTS, `${name}.test.ts`))

/** Runs the test files in a runner of their own, with the cluster as their object store. */
async function runOn(ceph: Ceph): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=3', ...FILES], {
    env: { ...environment, ...ceph.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output)
  const skipped = Number(/^# skipped (\d+)$/m.exec(output)?.[1])
  const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1])
  // A run that skips everything proves nothing.
  assert.ok(passed > FILES.length && skipped < passed, output)
}

test('on a real S3 gateway', { skip: noCeph, timeout: 1_800_000 }, async () => {
  await using ceph = await startCeph()
  await runOn(ceph)
})
