import assert from 'node:assert/strict'
import { test, mock } from 'node:test'
import { pino } from 'pino'
import { Metrics, LogQuota } from './observability.ts'

test('gauges of several processes are summed, unless they report shared state', async () => {
  const all = [3, 5].map((value) => {
    const metrics = new Metrics()
    metrics.measure({ own: ['Each has its own', () => value] })
    metrics.measure({ shared: ['All look at the same', () => value] }, 'max')
    return metrics
  })
  const [first] = all
  assert.ok(first !== undefined)
  first.gatherBy(() => Promise.all(all.map((metrics) => metrics.measurements())))
  const lines = (await first.text()).split('\n')
  assert.deepEqual(
    lines.filter((line) => /^(own|shared) /.test(line)),
    ['own 8', 'shared 5'],
  )
})

test('log lines per client and minute are limited, and the number of omitted lines is logged', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(line) })
  const quota = new LogQuota(log, 2)
  const take = (ip: string, count: number) =>
    Array.from({ length: count }, () => quota.take(ip)).filter((isLogged) => isLogged).length
  assert.deepEqual([take('192.0.2.1', 5), take('192.0.2.2', 2), take('192.0.2.1', 1)], [2, 2, 0])
  assert.deepEqual([take('2001:db8::1', 2), take('2001:db8::2', 3)], [2, 0], 'one /64 is one client')
  mock.timers.tick(60_000)
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    [
      { level: 40, ip: '192.0.2.1', lines: 4, msg: 'log lines about a client omitted' },
      { level: 40, ip: '2001:db8:0:0::/64', lines: 3, msg: 'log lines about a client omitted' },
    ],
  )
  assert.equal(take('192.0.2.1', 5), 2)
  mock.timers.reset()
})

test('further clients share one quota, and 0 means no limit', () => {
  const log = pino({ level: 'silent' })
  const quota = new LogQuota(log, 1)
  for (let i = 0; i < 10_000; i++) assert.equal(quota.take(`client ${i}`), true)
  assert.deepEqual(
    [quota.take('client a'), quota.take('client b'), quota.take('client 1')],
    [true, false, false],
  )
  const unlimited = new LogQuota(log, 0)
  for (let i = 0; i < 100; i++) assert.equal(unlimited.take('a'), true)
})
