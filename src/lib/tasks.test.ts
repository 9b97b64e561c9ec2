import assert from 'node:assert/strict'
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
