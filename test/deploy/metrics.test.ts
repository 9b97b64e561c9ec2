import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'

const noPromtool =
  spawnSync('promtool', ['--version'], { stdio: 'ignore' }).error !== undefined && 'promtool is not installed'

for (const workers of ['1', '2']) {
  test(`metrics of ${workers} processes follow the conventions`, async (context) => {
    await using folder = await temporaryFolder()
    await using service = await serve(['--data', folder.path, '--port', '0', '--workers', workers])
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const types = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    assert.ok(types.length > 50)
    const misnamed = types.filter(([, name = '', type]) => (type === 'counter') !== name.endsWith('_total'))
    assert.deepEqual(
      misnamed.map(([, name]) => name),
      [],
    )
    if (noPromtool !== false) return context.diagnostic(noPromtool)
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: text,
      encoding: 'utf8',
    })
    assert.deepEqual({ status, said: stdout + stderr }, { status: 0, said: '' })
  })
}
