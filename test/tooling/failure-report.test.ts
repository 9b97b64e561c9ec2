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
test('a wrong name is taken', async () => {
  await using service = await startService()
  for (const encoding of ['multipart', 'json', 'urlencoded']) {
    console.log('key ' + service.domainKey)
    await add(service, [record('casa')])
    const fields = { api: service.domainKey, data: [record('mala palabra')] }
    await send(service, '/api/v1/domainwatch/add', fields, { encoding })
    assert.notEqual(encoding, 'ENCODING')
  }
})
`

for (const encoding of ['multipart', 'json', 'urlencoded']) {
  test(`a test that fails prints the last request, its answer and the log, without keys: ${encoding}`, async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'failing.test.ts')
    await writeFile(file, FAILING.replace('ENCODING', encoding))
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout, status } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
      env,
      encoding: 'utf8',
    })
    assert.equal(status, 1)
    assert.match(stdout, /^# last request to http:\/\/\S+: POST \/api\/v1\/domainwatch\/add$/m)
    assert.match(stdout, /^# +sent: .*mala.palabra/m)
    assert.match(stdout, /^# +answer: 500 \{"status":500,"count":0,"errors":\[\{"index":0,"field":"domain"/m)
    assert.match(stdout, /^# +log: .*"route":"\/api\/v1\/domainwatch\/add","status":500/m)
    const key = /^# key (\S{32})$/m.exec(stdout)?.[1]
    assert.ok(key !== undefined)
    assert.equal(stdout.replaceAll(`# key ${key}\n`, '').includes(key), false)
  })
}
