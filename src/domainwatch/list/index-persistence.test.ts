import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { cursorAt } from '../../storage/database/changes/change.ts'
import type { Output } from '../tasks/snapshot-file.ts'
import { IndexPersistence } from './index-persistence.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const RECORDS = 100_000

/** A keeper by a clock that stands still, with what became of each attempt to write. */
function keeper(t: TestContext, outcomes: (Output | Error)[]) {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const state = { isMerging: false }
  const attempts: number[] = []
  const inputs: unknown[] = []
  const reports: string[] = []
  const kept = new IndexPersistence({
    database: { changes: { witness: async () => 'change' } },
    tasks: {
      async run<_, Result>(_module: string, input: unknown): Promise<Result> {
        inputs.push(input)
        attempts.push(now)
        const outcome = outcomes.shift() ?? { kind: 'written' }
        if (outcome instanceof Error) throw outcome
        // Of the only task that a keeper has.
        return outcome as Result
      },
      waiting: 0,
      close: async () => {},
    },
    file: { path: '/nowhere/lists', version: '1' },
    memory: 1,
    state: () => ({ cursor: cursorAt('0123456789ab', 1), parts: { registered: [], deleted: [] } }),
    records: () => RECORDS,
    isMerging: () => state.isMerging,
    report: (message, error) => void reports.push(`${message}: ${String(error)}`),
  })
  async function pass(ms: number): Promise<void> {
    for (const end = now + ms; now < end;) {
      now += SECOND
      t.mock.timers.tick(SECOND)
      await turn()
    }
  }
  return { kept, state, attempts, inputs, reports, pass }
}

const FAILURES: readonly [name: string, outcome: Output | Error, told: RegExp][] = [
  ['the disk is full', { kind: 'failed', reason: 'the disk has too little room left' }, /too little room/],
  ['no thread is free', new Error('busy'), /busy/],
]

for (const [name, failure, told] of FAILURES) {
  test(`where ${name}, the lists are kept 10 minutes later, not before and without another change`, async (t) => {
    const { kept, attempts, reports, pass } = keeper(t, [failure])
    kept.changed(RECORDS)
    await pass(4 * SECOND)
    assert.deepEqual(attempts, [])
    await pass(SECOND)
    assert.deepEqual(attempts, [5 * SECOND])
    assert.equal(reports.length, 1)
    assert.match(reports[0] ?? '', told)
    // Reasons that come meanwhile do not hurry it.
    kept.changed(RECORDS)
    await pass(10 * MINUTE - SECOND)
    assert.equal(attempts.length, 1)
    await pass(SECOND)
    assert.deepEqual(attempts, [5 * SECOND, 5 * SECOND + 10 * MINUTE])
    await pass(30 * MINUTE)
    assert.equal(attempts.length, 2)
    assert.equal(reports.length, 1)
  })
}

test('they are kept once a minute at most, and only when a fiftieth has changed', async (t) => {
  const { kept, attempts, pass } = keeper(t, [])
  kept.changed(RECORDS)
  await pass(5 * SECOND)
  assert.equal(attempts.length, 1)
  kept.changed(RECORDS / 50)
  await pass(10 * MINUTE)
  assert.equal(attempts.length, 1)
  kept.changed(1)
  await pass(5 * SECOND)
  assert.equal(attempts.length, 2)
  kept.changed(RECORDS)
  await pass(59 * SECOND)
  assert.equal(attempts.length, 2)
  await pass(SECOND)
  assert.equal(attempts.length, 3)
})

test('what another process writes is left to it, and looked for again a minute later', async (t) => {
  const { kept, attempts, reports, pass } = keeper(t, [{ kind: 'busy' }])
  kept.changed(RECORDS)
  await pass(5 * SECOND)
  await pass(59 * SECOND)
  assert.equal(attempts.length, 1)
  await pass(SECOND)
  assert.equal(attempts.length, 2)
  assert.deepEqual(reports, [])
})

test('they are kept when their parts are merged, not before', async (t) => {
  const { kept, state, attempts, pass } = keeper(t, [])
  state.isMerging = true
  kept.changed(RECORDS)
  await pass(MINUTE)
  kept.changed(RECORDS)
  await pass(MINUTE)
  assert.deepEqual(attempts, [])
  state.isMerging = false
  kept.changed(0)
  await pass(5 * SECOND)
  assert.equal(attempts.length, 1)
})

test('they are kept again, however few have changed, when a quarter of them has been merged since', async (t) => {
  const { kept, attempts, inputs, pass } = keeper(t, [])
  kept.changed(RECORDS)
  await pass(2 * MINUTE)
  assert.partialDeepStrictEqual(inputs, [{ kind: 'write', near: RECORDS / 50 }])
  kept.merged(RECORDS / 4)
  kept.changed(0)
  await pass(MINUTE)
  assert.equal(attempts.length, 1)
  kept.merged(1)
  kept.changed(0)
  await pass(MINUTE)
  // One that is as new, but not merged, is no reason to leave it.
  assert.partialDeepStrictEqual(inputs.slice(1), [{ kind: 'write', near: 0 }])
  kept.changed(0)
  await pass(MINUTE)
  assert.equal(attempts.length, 2)
})
