import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FigureHistory } from './index.ts'

test('keeps a sample of each minute of the last hour, oldest first', async () => {
  let value = 0
  const history = new FigureHistory(async () => [
    { name: 'catalejo_event_streams', type: 'gauge', values: [{ value: value++ }, { value: 100 }] },
    { name: 'catalejo_http_request_seconds', type: 'histogram', values: [{ value: 1 }] },
    { name: 'process_other', type: 'gauge', values: [{ value: 1 }] },
  ])
  assert.deepEqual(history.lastHour(), {})
  for (let minute = 0; minute < 61; minute++) await history.sample()
  assert.deepEqual(history.lastHour(), {
    catalejo_event_streams: Array.from({ length: 60 }, (_, i) => 101 + i),
  })
  assert.deepEqual(await history.now(), { catalejo_event_streams: 161 })
})
