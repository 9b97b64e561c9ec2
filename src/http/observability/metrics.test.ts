import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { Metrics, RequestHistogram } from './metrics.ts'

const name = 'seconds'
const help = 'Time'
const buckets = [0.001, 0.01, 1]

test('gauges of several processes are summed, unless they report shared state', async () => {
  const all = [3, 5].map((value) => {
    const metrics = new Metrics()
    metrics.gauge('own', 'Each has its own', () => value)
    metrics.gauge('shared', 'All look at the same', () => value, 'max')
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

test('the request histogram reports the same as a histogram of prom-client', async () => {
  const [ours, theirs] = [new Registry(), new Registry()]
  const counted = new RequestHistogram({ name, help, registers: [ours] }, buckets)
  const usual = new Histogram({
    name,
    help,
    labelNames: ['method', 'route', 'status'],
    buckets,
    registers: [theirs],
  })
  for (const [i, seconds] of [0, 0.001, 0.0011, 0.5, 1, 2, 100].entries()) {
    for (const route of ['/a', '/b "c"']) {
      const status = i % 2 === 0 ? 200 : 404
      counted.count('GET', route, status, seconds)
      usual.observe({ method: 'GET', route, status }, seconds)
    }
  }
  assert.equal(await ours.metrics(), await theirs.metrics())
  // The form that is sent between processes. There are no exemplars.
  const reported = async (registry: Registry): Promise<unknown> =>
    JSON.parse(
      JSON.stringify(await registry.getMetricsAsJSON(), (key, value: unknown) =>
        key === 'exemplar' ? undefined : value,
      ),
    )
  assert.deepEqual(await reported(ours), await reported(theirs))
})
