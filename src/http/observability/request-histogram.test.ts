import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { RequestHistogram } from './metrics.ts'

const name = 'seconds'
const help = 'Time'
const buckets = [0.001, 0.01, 1]

test('tells what the library itself would', async () => {
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
  // As it goes from one process to another; of exemplars there are none.
  const told = async (registry: Registry): Promise<unknown> =>
    JSON.parse(
      JSON.stringify(await registry.getMetricsAsJSON(), (key, value: unknown) =>
        key === 'exemplar' ? undefined : value,
      ),
    )
  assert.deepEqual(await told(ours), await told(theirs))
})
