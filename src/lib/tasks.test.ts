import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Client } from './client.ts'
import { createTasks, taskModule } from './tasks.ts'

const PARSE = taskModule('../domainwatch/tasks/parse-data', import.meta)
const HOLD = taskModule('../../test/support/hold-thread', import.meta)
const tasks = createTasks(2)
after(() => tasks.close())

const body = () => ({
  contentType: 'application/json',
  bytes: new Uint8Array(Buffer.from('{"data":"[]"}')),
  operation: 'add',
})

test('a client with many tasks does not starve others', async () => {
  const order: string[] = []
  const run = (client: Client) => tasks.run(PARSE, body(), { client }).then(() => order.push(client))
  const greedy = Array.from({ length: 100 }, () => run('account 1'))
  await run('account 2')
  assert.ok(order.length < 20, `${order.length} tasks came first`)
  await Promise.all(greedy)
})

test('the last thread ends when it is idle, with its heap', async () => {
  const started = once(process, 'worker')
  const pool = createTasks(1, undefined, 1)
  assert.ok(await pool.run(PARSE, body()))
  const [thread] = await started
  await once(thread, 'exit')
  assert.ok(await pool.run(PARSE, body()))
  await pool.close()
})

/** Uses up all file descriptors, so that the first thread of the pool cannot start, then frees them again. */
const WITHOUT_FILES = `
  import { closeSync, openSync } from 'node:fs'
  import { createTasks } from ${JSON.stringify(import.meta.resolve('./tasks.ts'))}
  const files = []
  try { for (;;) files.push(openSync('/dev/null')) } catch {}
  const failed = Promise.withResolvers()
  const tasks = createTasks(1, (error) => failed.resolve(error.code))
  const waiting = tasks.run(process.argv[1], 'done').catch((error) => error.constructor.name)
  const code = await failed.promise
  for (const file of files) closeSync(file)
  process.stdout.write([code, await waiting, await tasks.run(process.argv[1], 'done')].join(' '))
  await tasks.close()
`
const noPrlimit =
  spawnSync('prlimit', ['--version'], { stdio: 'ignore' }).error !== undefined && 'not installed: prlimit'

test(
  'a thread that cannot start is reported, its task is refused as overload, and another thread runs the next one',
  { skip: noPrlimit },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'catalejo-tasks-'))
    context.after(() => rm(folder, { recursive: true }))
    const echo = join(folder, 'echo.mjs')
    await writeFile(echo, 'export default (text) => text')
    const node = [process.execPath, '--input-type=module', '--eval', WITHOUT_FILES, echo]
    const { stdout, stderr } = spawnSync('prlimit', ['--nofile=64:64', ...node], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    assert.equal(stdout, 'ERR_WORKER_INIT_FAILED OverloadError done', stderr)
  },
)

test('closing lets running tasks finish and rejects queued ones', async () => {
  const pool = createTasks(1)
  const gate = new Int32Array(new SharedArrayBuffer(8))
  const running = pool.run(HOLD, gate)
  await Atomics.waitAsync(gate, 0, 0).value
  const waiting = pool.run(HOLD, gate)
  const closed = pool.close()
  Atomics.store(gate, 1, 1)
  Atomics.notify(gate, 1)
  assert.equal(await running, 'done')
  await assert.rejects(waiting)
  await closed
})
