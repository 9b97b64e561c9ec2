/**
 * Runs what needs a real object store against a Ceph cluster that it starts: the contract of blob stores, the
 * behaviour of a real gateway, and tests that read, replace and delete objects in ways that the contract on two nodes,
 * which keeps its images there too, leaves out.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { missingPrograms, startCeph, type Ceph } from '../support/ceph.ts'
import { noHaproxy } from '../support/haproxy.ts'

const TESTS = fileURLToPath(new URL('../', import.meta.url))

const OF_OBJECTS = [
  'derivative-cache',
  'edited-keys',
  'editing',
  'link-cached',
  'link-changed-meanwhile',
  'link-too-heavy',
  'similar',
  'trash',
  'upload-left',
].map((name) => join(TESTS, 'imagestore', `${name}.test.ts`))

const missing = missingPrograms()
const skip =
  missing.length > 0 && `not installed: ${missing.join(', ')} (Debian: radosgw, ceph-mon, ceph-osd)`

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(join(TESTS, folder))
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => join(TESTS, folder, name))
}

async function imageHosting(): Promise<string[]> {
  return noHaproxy === false ? OF_OBJECTS : filesIn('imagestore')
}

/** Runs test files in a runner of their own, with the cluster as their object store. */
async function runOn(ceph: Ceph, files: readonly string[]): Promise<void> {
  // Without files a runner takes all there are, this one included.
  assert.ok(files.length > 0)
  const { NODE_TEST_CONTEXT: _, ...environment } = process.env
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', '--test-concurrency=2', ...files], {
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
  assert.ok(passed > files.length && skipped < passed, output)
}

suite('on a real S3 gateway', { skip, timeout: 1_800_000 }, async () => {
  test('Ceph', async (context) => {
    await using ceph = await startCeph()
    await context.test('blob stores keep their contract', () =>
      runOn(ceph, [join(TESTS, 'contracts', 'blob-stores.test.ts')]),
    )
    await context.test('behaviour of a gateway', () => runOn(ceph, [join(TESTS, 's3', 'gateway.test.ts')]))
    await context.test('integrity checks', async () => runOn(ceph, await filesIn('integrity')))
    await context.test('migrations and backups', () => runOn(ceph, [join(TESTS, 'transfer', 's3.test.ts')]))
    await context.test('files of jobs', () =>
      runOn(
        ceph,
        ['bulk', 'import-over-http'].map((name) => join(TESTS, 'domainwatch', `${name}.test.ts`)),
      ),
    )
    await context.test('image hosting', async () => runOn(ceph, await imageHosting()))
  })
})
