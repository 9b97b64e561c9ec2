import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

/** A feed that becomes stale after three minutes, and one that does not. */
const RULE_TEST = `
rule_files: [rules.yml]
tests:
  - interval: 1m
    input_series:
      - series: 'catalejo_feed_stale{feed="eliminados",instance="a"}'
        values: '0x3 1x20'
      - series: 'catalejo_feed_stale{feed="otra",instance="a"}'
        values: '0x30'
    alert_rule_test:
      - eval_time: 6m
        alertname: CatalejoFeedStale
      - eval_time: 12m
        alertname: CatalejoFeedStale
        exp_alerts:
          - exp_labels: { feed: eliminados }
            exp_annotations: { summary: 'The feed eliminados was not fetched for three intervals' }
`

test('the documented alert fires for a stale feed', { skip: noPromtool }, async () => {
  await using folder = await temporaryFolder()
  const manual = await readFile(new URL('../../docs/operations/monitoring.md', import.meta.url), 'utf8')
  const [, rules = ''] = /```yaml\n(groups:.*?)```/s.exec(manual) ?? []
  await writeFile(join(folder.path, 'rules.yml'), rules)
  await writeFile(join(folder.path, 'test.yml'), RULE_TEST)
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder.path, 'test.yml')], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stdout + stderr)
})
