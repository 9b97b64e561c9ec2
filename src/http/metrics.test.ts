import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from './observability.ts'

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
