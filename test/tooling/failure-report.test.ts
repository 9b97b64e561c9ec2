import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'

const support = (name: string) => JSON.stringify(new URL(`../support/${name}.ts`, import.meta.url).href)

const FAILING = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { add, record } from ${support('domains')}
import { send } from ${support('http')}
import { startService } from ${support('service')}
for (const encoding of ['multipart', 'json', 'urlencoded']) {
  test(encoding, async () => {
    await using service = await startService()
    console.log('key ' + service.domainKey)
    await add(service, [record('casa')])
    const fields = { api: service.domainKey, data: [record('mala palabra')] }
    await send(service, '/api/v1/domainwatch/add', fields, { encoding })
    assert.fail()
  })
}
`

test('a test that fails prints the last request, its answer and the log, without keys, of any encoding', async () => {
  await using folder = await temporaryFolder()
  const file = join(folder.path, 'failing.test.ts')
  await writeFile(file, FAILING)
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
    env,
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  for (const line of [
    /^# last request to http:\/\/\S+: POST \/api\/v1\/domainwatch\/add$/gm,
    /^# +sent: .*mala.palabra/gm,
    /^# +answer: 500 \{"status":500,"count":0,"errors":\[\{"index":0,"field":"domain"/gm,
    /^# +log: .*"route":"\/api\/v1\/domainwatch\/add","status":500/gm,
  ])
    assert.equal(stdout.match(line)?.length, 3, stdout)
  const keys = [...stdout.matchAll(/^# key (\S{32})$/gm)].map(([, key = '']) => key)
  assert.equal(keys.length, 3)
  for (const key of keys) assert.equal(stdout.replaceAll(`# key ${key}\n`, '').includes(key), false)
})
