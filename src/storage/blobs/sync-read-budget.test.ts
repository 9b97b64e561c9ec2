import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SyncReadBudget } from './file-store.ts'

function stalls() {
  let now = 1_000
  let waits = 1
  const spend = (ms: number) => (now += ms)
  const counted = new SyncReadBudget(
    () => now,
    () => waits,
  )
  const read = (ms: number) =>
    counted.run(() => {
      waits++
      spend(ms)
    })
  return { stalls: counted, spend, read, beBeside: (ms: number) => counted.run(() => spend(ms)) }
}

test('one long wait is tolerated, several in a row are not', () => {
  const { stalls: counted, read } = stalls()
  read(30)
  assert.ok(counted.hasBudget)
  read(30)
  assert.equal(counted.hasBudget, false)
})

test('at most a twentieth of the time is spent waiting, however slow the disk', () => {
  const { stalls: counted, spend, read } = stalls()
  let waited = 0
  const seconds = 600
  for (let ms = 0; ms < seconds * 1_000; ms += 10) {
    if (counted.hasBudget) {
      read(12)
      waited += 12
    } else spend(10)
  }
  assert.ok(waited > seconds * 30 && waited < seconds * 70, `${waited} ms`)
})

test('after a read that hung, reads are blocked for a long time and then allowed again', () => {
  const { stalls: counted, spend, read } = stalls()
  assert.throws(() =>
    counted.run(() => {
      spend(3_600_000)
      throw new Error('gone')
    }),
  )
  spend(590_000)
  assert.equal(counted.hasBudget, false)
  spend(10_000)
  assert.ok(counted.hasBudget)
  read(0.1)
  assert.ok(counted.hasBudget)
})

test('time when another process had the CPU does not count as a wait', () => {
  const { stalls: counted, read, beBeside } = stalls()
  read(3)
  for (let i = 0; i < 100; i++) beBeside(20)
  assert.ok(counted.hasBudget)
  read(60)
  assert.equal(counted.hasBudget, false)
})
