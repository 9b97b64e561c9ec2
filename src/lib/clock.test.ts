import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InterruptibleSleep } from './clock.ts'

const LONG_MS = 1_000_000

test('waking ends all sleeps, an abort or the timeout only its own', async () => {
  const sleep = new InterruptibleSleep()
  const never = new AbortController().signal
  const waiting = [sleep.sleep(LONG_MS, never), sleep.sleep(LONG_MS, never)]
  sleep.wakeAll()
  await Promise.all(waiting)

  const stop = new AbortController()
  const stopped = sleep.sleep(LONG_MS, stop.signal)
  let isOver = false
  const other = sleep.sleep(LONG_MS, never).then(() => (isOver = true))
  stop.abort()
  await stopped
  await sleep.sleep(LONG_MS, stop.signal)
  assert.equal(isOver, false)
  sleep.wakeAll()
  assert.equal(await other, true)
  const keepsRunning = setInterval(() => {}, LONG_MS)
  await sleep.sleep(1, never)
  clearInterval(keepsRunning)
})
