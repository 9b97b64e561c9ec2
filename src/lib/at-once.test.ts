import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { atOnce } from './at-once.ts'

async function* count(to: number) {
  for (let number = 0; number < to; number++) yield number
}

suite('so many at once', { timeout: 60_000 }, () => {
  test('each is done once, and never more at a time', async () => {
    const done: number[] = []
    let running = 0
    let most = 0
    await atOnce(count(50), 4, async (number) => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      done.push(number)
      running--
    })
    assert.deepEqual(
      done.toSorted((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => index),
    )
    assert.equal(most, 4)
  })

  test('a fault comes through, and nothing is begun after it', async () => {
    const begun: number[] = []
    const fault = new Error('on purpose')
    const work = atOnce(count(1_000), 2, async (number) => {
      begun.push(number)
      await new Promise((resolve) => setImmediate(resolve))
      if (number === 3) throw fault
    })
    await assert.rejects(work, fault)
    assert.ok(begun.length < 10)
  })
})
