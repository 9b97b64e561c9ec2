import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { Metrics, LogQuota } from './observability.ts'

test('gauges of several processes are summed, unless they report shared state', async () => {
  const all = [3, 5].map((value) => {
    const metrics = new Metrics()
    metrics.measure({ own: ['Each has its own', () => value] })
    metrics.measure({ shared: ['All look at the same', () => value] }, { isShared: true })
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
