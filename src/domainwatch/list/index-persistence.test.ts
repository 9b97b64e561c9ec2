import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { cursorAt } from '../../storage/database/changes/change.ts'
import type { Output } from '../tasks/snapshot-file.ts'
import { IndexPersistence } from './index-persistence.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const RECORDS = 100_000

/** A persistence with a stopped clock and given outcomes of its writes. */
function keeper(t: TestContext, outcomes: (Output | Error)[]) {
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.timers.enable({ apis: ['setInterval'] })
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
        // The output of its only task.
        return outcome as Result
      },
      waiting: 0,
      close: async () => {},
    },
    file: { path: '/nowhere/lists', version: '1' },
    memory: 1,
    state: () => ({ cursor: cursorAt('0123456789ab', 1), parts: { registered: [], deleted: [] } }),
    records: () => RECORDS,
    report: (message, error) => void reports.push(`${message}: ${String(error)}`),
  })
  async function pass(ms: number): Promise<void> {
    for (const end = now + ms; now < end;) {
      now += SECOND
      t.mock.timers.tick(SECOND)
      await turn()
    }
  }
  return { kept, attempts, inputs, reports, pass }
}

const FAILURES: readonly [name: string, outcome: Output | Error, message: RegExp][] = [
  ['the disk is full', { kind: 'failed', reason: 'the disk has too little room left' }, /too little room/],
  ['no thread is free', new Error('busy'), /busy/],
]

for (const [name, failure, message] of FAILURES) {
  test(`where ${name}, the index is stored 10 minutes later, not before, and without another change`, async (t) => {
    const { kept, attempts, reports, pass } = keeper(t, [failure])
    kept.changed(RECORDS)
    await pass(59 * SECOND)
    assert.deepEqual(attempts, [])
    await pass(SECOND)
    assert.deepEqual(attempts, [MINUTE])
    assert.equal(reports.length, 1)
    assert.match(reports[0] ?? '', message)
    // Further reasons in between do not advance it.
    kept.changed(RECORDS)
    await pass(10 * MINUTE - SECOND)
    assert.equal(attempts.length, 1)
    await pass(SECOND)
    assert.deepEqual(attempts, [MINUTE, 11 * MINUTE])
    await pass(30 * MINUTE)
    assert.equal(attempts.length, 2)
    assert.equal(reports.length, 1)
  })
}

test('the index is stored at most once a minute, and only if a fiftieth of it has changed', async (t) => {
  const { kept, attempts, pass } = keeper(t, [])
  kept.changed(RECORDS)
  await pass(MINUTE)
  assert.equal(attempts.length, 1)
  kept.changed(RECORDS / 50)
  await pass(10 * MINUTE)
  assert.equal(attempts.length, 1)
  kept.changed(1)
  await pass(MINUTE)
  assert.equal(attempts.length, 2)
  kept.changed(RECORDS)
  await pass(59 * SECOND)
  assert.equal(attempts.length, 2)
  await pass(SECOND)
  assert.equal(attempts.length, 3)
})

test('while another process writes the file, the next attempt is a minute later', async (t) => {
  const { kept, attempts, reports, pass } = keeper(t, [{ kind: 'busy' }])
  kept.changed(RECORDS)
  await pass(MINUTE)
  await pass(59 * SECOND)
  assert.equal(attempts.length, 1)
  await pass(SECOND)
  assert.equal(attempts.length, 2)
  assert.deepEqual(reports, [])
})

test('the index is stored again after a quarter of it was merged, however few records changed', async (t) => {
  const { kept, attempts, inputs, pass } = keeper(t, [])
  kept.changed(RECORDS)
  await pass(2 * MINUTE)
  assert.partialDeepStrictEqual(inputs, [{ kind: 'write', near: RECORDS / 50 }])
  kept.merged(RECORDS / 4)
  await pass(MINUTE)
  assert.equal(attempts.length, 1)
  kept.merged(1)
  await pass(MINUTE)
  // An unmerged file of the same age does not prevent it.
  assert.partialDeepStrictEqual(inputs.slice(1), [{ kind: 'write', near: 0 }])
  await pass(MINUTE)
  assert.equal(attempts.length, 2)
})
