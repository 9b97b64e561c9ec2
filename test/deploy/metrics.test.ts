import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { serve } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { skipWithout } from '../support/program.ts'

const noPromtool = skipWithout('promtool')

test('metrics of several processes, on an address of their own, follow the conventions', async (context) => {
  await using folder = await temporaryFolder()
  const feeds = join(folder.path, 'feeds.json')
  await writeFile(
    feeds,
    JSON.stringify([
      { name: 'altas', url: 'http://127.0.0.1:9/altas.csv', format: 'auto', every: '1d', account: 'grupo' },
    ]),
  )
  const flags = ['--data', folder.path, '--workers', '2', '--feeds', feeds]
  await using service = await serve([...flags, '--metrics-address', '127.0.0.1:0'])
  const url = /"address":"(http:[^"]*)","msg":"metrics listening"/.exec(service.stdout())?.[1] ?? ''
  const text = await (await fetch(url)).text()
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

const RULES = fileURLToPath(new URL('../../deploy/prometheus/catalejo.rules.yml', import.meta.url))

/** A series that triggers each alert: its values, of which the last one stays. */
const TRIGGERS: readonly (readonly [alert: string, series: string])[] = [
  ['CatalejoDown', 'up{job="catalejo",instance="a"} 0'],
  ['CatalejoNotLoaded', 'catalejo_search_ready{instance="a"} 0'],
  ['CatalejoBackupOld', 'catalejo_backup_age_seconds{kind="backup"} 200000'],
  ['CatalejoBackupFailed', 'catalejo_backup_success{kind="drill"} 0'],
  ['CatalejoFeedStale', 'catalejo_feed_stale{feed="altas"} 1'],
  ['CatalejoFeedEmpty', 'catalejo_feed_rows_read{feed="altas"} 0'],
  ['CatalejoFeedGap', 'catalejo_feed_gaps_total{feed="altas"} 0 1'],
  ['CatalejoDestinationDead', 'catalejo_watch_destinations_dead{channel="webhook"} 2'],
  ['CatalejoDiskLow', 'catalejo_disk_free_bytes{instance="a"} 1000'],
  ['CatalejoQueueLong', 'catalejo_database_waiting_writes{instance="a"} 900'],
  ['CatalejoChangesMany', 'catalejo_changes_kept_ratio 0.95'],
  ['CatalejoClockMoved', 'catalejo_clock_step_seconds{instance="a"} 691200'],
  ['CatalejoProxyUntrusted', 'catalejo_forwarded_ignored_total 0 900'],
  ['CatalejoOriginalDamaged', 'catalejo_originals_damaged_total 0 2'],
]

test(
  'each alert fires for what it is about, and for nothing in a healthy instance',
  { skip: noPromtool },
  async () => {
    await using folder = await temporaryFolder()
    const rules = await readFile(RULES, 'utf8')
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
    assert.deepEqual(
      alerts.toSorted(),
      [...TRIGGERS.map(([name]) => name), 'CatalejoVersionsDiffer'].toSorted(),
    )
    const healthy = [
      'up{job="catalejo"} 1',
      'catalejo_search_ready 1',
      'catalejo_backup_age_seconds{kind="backup"} 3600',
      'catalejo_backup_success{kind="backup"} 1',
      'catalejo_feed_stale{feed="altas"} 0',
      'catalejo_feed_rows_read{feed="altas"} 450',
      'catalejo_feed_gaps_total{feed="altas"} 0',
      'catalejo_watch_destinations_dead{channel="webhook"} 0',
      'catalejo_disk_free_bytes 90000000000',
      'catalejo_database_waiting_writes 1',
      'catalejo_changes_kept_ratio 0.1',
      'catalejo_clock_step_seconds 0',
      'catalejo_forwarded_ignored_total 0',
      'catalejo_originals_damaged_total 0',
      'catalejo_info{version="0.2.0"} 1',
    ]
    await writeFile(join(folder.path, 'quiet.yml'), ruleTest(healthy, alerts))
    const well = promtool(join(folder.path, 'quiet.yml'))
    assert.equal(well.status, 0, well.said)
    for (const [name, series] of TRIGGERS) {
      // An alert that is not expected fails the test of promtool, and its output names it.
      await writeFile(join(folder.path, 'fires.yml'), ruleTest([series], [name]))
      const { status, said } = promtool(join(folder.path, 'fires.yml'))
      assert.equal(status, 1, `${name} does not fire`)
      assert.match(said, new RegExp(`alertname: ?${name}|alertname="${name}"`))
    }
  },
)

test('every metric of the alerts and of the dashboard exists', async () => {
  await using folder = await temporaryFolder()
  await using service = await serve(['--data', folder.path, '--port', '0'])
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const dashboard = await readFile(new URL('../../deploy/grafana/catalejo.json', import.meta.url), 'utf8')
  const named = `${await readFile(RULES, 'utf8')}${dashboard}`.matchAll(
    /\b(?:catalejo|process)_[a-z0-9_]+\b/g,
  )
  const unknown = [...named]
    .map(([name]) => name.replace(/_(?:bucket|count)$/, ''))
    .filter((name) => !known.has(name))
  // Feeds have metrics where there are feeds.
  assert.deepEqual(
    [...new Set(unknown)].filter((name) => !name.startsWith('catalejo_feed_')),
    [],
  )
})

/** A test of promtool that expects none of these alerts after half an hour. */
function ruleTest(series: readonly string[], alerts: readonly string[]): string {
  const input = series.map((line) => {
    const [name = '', first = '', second = first] = line.split(' ')
    return { series: name, values: `${first} ${second}x60` }
  })
  const expected = alerts.map((alertname) => ({ eval_time: '30m', alertname, exp_alerts: [] }))
  // JSON is YAML.
  return JSON.stringify({
    rule_files: [RULES],
    tests: [{ interval: '1m', input_series: input, alert_rule_test: expected }],
  })
}

function promtool(path: string) {
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', path], { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}
