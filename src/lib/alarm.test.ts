import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Alarm } from './alarm.ts'

const LONG_MS = 1_000_000

test('a ring ends the waiting of all who wait, an abort that of its own, and time as well', async () => {
  const alarm = new Alarm()
  const never = new AbortController().signal
  const waiting = [alarm.wait(LONG_MS, never), alarm.wait(LONG_MS, never)]
  alarm.ring()
  await Promise.all(waiting)

  const stop = new AbortController()
  const stopped = alarm.wait(LONG_MS, stop.signal)
  let isOver = false
  const other = alarm.wait(LONG_MS, never).then(() => (isOver = true))
  stop.abort()
  await stopped
  await alarm.wait(LONG_MS, stop.signal)
  assert.equal(isOver, false)
  alarm.ring()
  assert.equal(await other, true)
  const keepsRunning = setInterval(() => {}, LONG_MS)
  await alarm.wait(1, never)
  clearInterval(keepsRunning)
})
