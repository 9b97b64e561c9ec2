import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createTasks, taskModule } from './tasks.ts'

const PARSE = taskModule('../domainwatch/tasks/read-records', import.meta)
const tasks = createTasks(2)
after(() => tasks.close())

const body = () => ({
  contentType: 'application/json',
  bytes: new Uint8Array(Buffer.from('{"data":"[]"}')),
  operation: 'add',
})

test('a client with many tasks lets others have their turns', async () => {
  const order: string[] = []
  const run = (client: string) => tasks.run(PARSE, body(), { client }).then(() => order.push(client))
  const greedy = Array.from({ length: 100 }, () => run('greedy'))
  await run('modest')
  assert.ok(order.length < 20, `${order.length} tasks came first`)
  await Promise.all(greedy)
})

test(
  'a thread that fails without a task is reported, and another one takes its place',
  { timeout: 60_000 },
  async (context) => {
    const folder = await mkdtemp(join(tmpdir(), 'catalejo-tasks-'))
    context.after(() => rm(folder, { recursive: true }))
    const module = join(folder, 'late.mjs')
    await writeFile(
      module,
      `export default (text) => {
      if (text === 'fail') setImmediate(() => { throw new Error('late') })
      return text
    }`,
    )
    const failed = Promise.withResolvers<unknown>()
    const pool = createTasks(1, failed.resolve)
    context.after(() => pool.close())
    assert.equal(await pool.run(module, 'fail'), 'fail')
    assert.match(String(await failed.promise), /late/)
    assert.equal(await pool.run(module, 'again'), 'again')
  },
)
