import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { OverloadError } from '../lib/errors.ts'
import { RequestTurns } from './connection-limits.ts'

/** Begins requests of clients, and returns what has begun, in order. */
function begin(turns: RequestTurns<string>, clients: readonly string[]): string[] {
  const begun: string[] = []
  for (const client of clients) {
    const turn = turns.take(client)
    if (turn === undefined) begun.push(client)
    else void turn.then(() => begun.push(client))
  }
  return begun
}

const crowd = (count: number) => Array.from({ length: count }, (_, i) => `client ${i}`)

test('32 requests begin in a turn of the event loop, and others in the next ones', async () => {
  const turns = new RequestTurns<string>((name) => `address ${name}`)
  const begun = begin(turns, crowd(100))
  assert.equal(begun.length, 32)
  const counts: number[] = []
  for (let i = 0; i < 4; i++) {
    await nextTurn()
    counts.push(begun.length)
  }
  assert.deepEqual(counts, [64, 96, 100, 100])
  assert.deepEqual(begun, crowd(100))
  assert.equal(begin(turns, crowd(32)).length, 32)
})

test('clients take turns, and a request of nobody who waits begins after those that do', async () => {
  const turns = new RequestTurns<string>((name) => `address ${name}`)
  const begun = begin(turns, [...Array<string>(132).fill('greedy'), 'other', 'third'])
  await nextTurn()
  assert.deepEqual(begun.slice(32, 36), ['greedy', 'other', 'third', 'greedy'])
  assert.deepEqual(begin(turns, ['late']), [])
})

test('a client whose requests fill its queue is refused, and others are not', async () => {
  const turns = new RequestTurns<string>((name) => `address ${name}`)
  begin(turns, Array<string>(12_532).fill('greedy'))
  assert.throws(() => turns.take('greedy'), OverloadError)
  assert.ok(turns.take('other') instanceof Promise)
})
