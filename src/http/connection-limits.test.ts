import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OverloadError } from '../lib/errors.ts'
import { RequestTurns } from './connection-limits.ts'

const newTurns = () => new RequestTurns<string>((name) => `address ${name}`)

test('32 requests begin in a turn of the event loop, and others in the next ones', async () => {
  const turns = newTurns()
  let begun = 0
  for (let i = 0; i < 100; i++) {
    const turn = turns.take(`client ${i}`)
    if (turn === undefined) begun++
    else void turn.then(() => begun++)
  }
  const counts = [begun]
  for (let i = 0; i < 4; i++) {
    await nextTurn()
    counts.push(begun)
  }
  assert.deepEqual(counts, [32, 64, 96, 100, 100])
})

test('a client whose requests fill its queue is refused, and others are not', () => {
  const turns = newTurns()
  for (let i = 0; i < 12_532; i++) void turns.take('greedy')
  assert.throws(() => turns.take('greedy'), OverloadError)
  assert.ok(turns.take('other') instanceof Promise)
})
