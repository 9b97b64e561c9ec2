import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { OverloadError } from './errors.ts'
import { Gate, SharedGate, type GateOptions, type Leave } from './gate.ts'

const OPTIONS: GateOptions = { running: 1, waiting: 100 }

/** Tasks that are named by their client and a number, such as `a1`, and end when the test ends them. */
function recorder(options: Partial<GateOptions> = {}) {
  const gate = new Gate<string>({ ...OPTIONS, ...options })
  const started: string[] = []
  const inside = new Map<string, Leave>()
  return {
    gate,
    started,
    enter: async (name: string, weight?: number, signal?: AbortSignal) => {
      const leave = await gate.enter(name.charAt(0), signal, weight)
      started.push(name)
      inside.set(name, leave)
    },
    leave: async (...names: readonly string[]) => {
      for (const name of names) {
        await new Promise(setImmediate)
        const leave = inside.get(name)
        assert.ok(leave, `${name} is not inside`)
        leave()
        await new Promise(setImmediate)
      }
    },
  }
}

test('a free place goes to the client that runs the fewest tasks', async () => {
  const { started, enter, leave } = recorder({ running: 3 })
  const tasks = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2'].map((name) => enter(name))
  await leave('a1', 'a2')
  assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1', 'b2'])
  await leave('b1', 'a3', 'b2', 'a4')
  await Promise.all(tasks)
})

test('a client keeps its turn for `turnMs`, and a long task ends it', async (context) => {
  context.mock.method(performance, 'now', () => now)
  let now = 0
  const gate = new Gate<string>({ ...OPTIONS, turnMs: 300 })
  const served: string[] = []
  const run = (name: string, ms: number) =>
    gate.run(name.charAt(0), async () => {
      served.push(name)
      now += ms
    })
  await Promise.all([
    ...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run(name, 150)),
    ...['b1', 'b2'].map((name) => run(name, 1_000)),
    run('c1', 10),
  ])
  assert.deepEqual(served, ['a1', 'a2', 'b1', 'c1', 'a3', 'a4', 'b2', 'a5'])
})

test('a full gate refuses the newest task of the longest line', async () => {
  const { started, enter, leave } = recorder({ waiting: 3 })
  const kept = ['a1', 'a2'].map((name) => enter(name))
  const displaced = ['a3', 'a4'].map((name) => assert.rejects(enter(name), OverloadError))
  kept.push(enter('b1'))
  await displaced[1]
  await assert.rejects(enter('a5'), OverloadError)
  kept.push(enter('c1'))
  await displaced[0]
  await assert.rejects(enter('b2'), OverloadError)
  await leave('a1', 'b1', 'c1', 'a2')
  await Promise.all(kept)
  assert.deepEqual(started, ['a1', 'b1', 'c1', 'a2'])
})

test('a client is refused beyond its own part of the line, and displaces none', async () => {
  const { gate, enter, leave } = recorder({ waiting: 5, waitingPerClient: 1 })
  const kept = ['a1', 'a2', 'b1', 'c1', 'd1'].map((name) => enter(name))
  await assert.rejects(enter('a3'), OverloadError)
  assert.equal(gate.waiting, 4)
  await leave('a1', 'b1', 'c1', 'd1', 'a2')
  await Promise.all(kept)
})

test('the weights of running tasks have a limit, and light tasks do not hold up a heavy one', async () => {
  const { started, enter, leave } = recorder({ running: 9, weight: 10 })
  const tasks = [enter('a1', 4), enter('b1', 4), enter('c1', 6), enter('d1', 2), enter('e1', 99)]
  assert.deepEqual(await inTurn(started), ['a1', 'b1'])
  await leave('a1')
  assert.deepEqual(started, ['a1', 'b1', 'c1'])
  await leave('b1')
  assert.deepEqual(started, ['a1', 'b1', 'c1', 'd1'])
  await leave('c1', 'd1')
  assert.deepEqual(started, ['a1', 'b1', 'c1', 'd1', 'e1'])
  await leave('e1')
  await Promise.all(tasks)
})

test('a heavy task that stops waiting lets those behind it in', async () => {
  const { started, enter, leave } = recorder({ running: 9, weight: 10 })
  const leaving = new AbortController()
  const light = [enter('a1', 6)]
  const left = assert.rejects(enter('b1', 6, leaving.signal), /left/)
  light.push(enter('c1', 1))
  leaving.abort(new Error('left'))
  await left
  await Promise.all(light)
  assert.deepEqual(started, ['a1', 'c1'])
  await leave('a1', 'c1')
})

test('a wait times out, and an aborted one ends', async () => {
  const { gate, enter, leave } = recorder({ waitMs: 5 })
  await enter('a1')
  await assert.rejects(enter('b1'), OverloadError)
  await assert.rejects(enter('b2', 1, AbortSignal.abort(new Error('left'))), /left/)
  assert.deepEqual([gate.running, gate.waiting], [1, 0])
  await leave('a1')
  assert.equal(gate.running, 0)
})

/** Lets tasks start that have just been allowed to. */
async function inTurn(started: readonly string[]): Promise<readonly string[]> {
  await new Promise(setImmediate)
  return [...started]
}

test('whatever clients do, limits hold and every task ends', async () => {
  const client = fc.constantFrom('a', 'b', 'c')
  const outcome = fc.constantFrom('leave', 'fail', 'abort')
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        running: fc.integer({ min: 1, max: 4 }),
        perClient: fc.integer({ min: 1, max: 4 }),
        waiting: fc.integer({ min: 0, max: 6 }),
        waitingPerClient: fc.integer({ min: 0, max: 6 }),
        weight: fc.integer({ min: 1, max: 8 }),
        turnMs: fc.constantFrom(0, 300),
      }),
      fc.array(fc.tuple(client, fc.nat(3), fc.integer({ min: 1, max: 9 }), outcome), { maxLength: 40 }),
      async (limits, tasks) => {
        const gate = new Gate<string>({ ...limits, waitMs: 60_000 })
        const inside: { readonly client: string; readonly weight: number }[] = []
        const outcomes = await Promise.allSettled(
          tasks.map(async ([name, turns, weight, end]) => {
            const abort = new AbortController()
            const work = async () => {
              const task = { client: name, weight }
              inside.push(task)
              const total = inside.reduce((sum, each) => sum + each.weight, 0)
              assert.ok(inside.length <= limits.running && gate.waiting <= limits.waiting)
              assert.ok(inside.filter((each) => each.client === name).length <= limits.perClient)
              assert.ok(inside.length === 1 || total <= limits.weight)
              for (let turn = 0; turn < turns; turn++) await Promise.resolve()
              inside.splice(inside.indexOf(task), 1)
              if (end === 'fail') throw new Error('failed')
            }
            const done = gate.run(name, work, abort.signal, weight)
            if (end === 'abort') queueMicrotask(() => abort.abort(new Error('left')))
            await done
          }),
        )
        for (const result of outcomes) {
          if (result.status === 'fulfilled' || result.reason instanceof OverloadError) continue
          assert.match(String(result.reason), /^Error: (failed|left)$/)
        }
        assert.deepEqual([gate.running, gate.waiting, inside], [0, 0, []])
      },
    ),
    { numRuns: 300 },
  )
})

test('however many tasks others have, a client waits for one of each of them at most', async () => {
  const lines = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(lines, async (lengths) => {
      const gate = new Gate<string>({ ...OPTIONS, waiting: 1_000 })
      const served: string[] = []
      const run = (client: string) => gate.run(client, async () => void served.push(client))
      const tasks = lengths.flatMap((length, i) => Array.from({ length }, () => run(`client ${i}`)))
      tasks.push(run('late'))
      await Promise.all(tasks)
      assert.ok(served.indexOf('late') <= lengths.length, served.join(', '))
    }),
    { numRuns: 100 },
  )
})

test('an address has its own share of a shared gate', async () => {
  const gate = new SharedGate({ running: 3, perClient: 2, waiting: 10 }, 1)
  const first = await gate.enter('address a')
  const second = gate.enter('address a')
  const other = await gate.enter('address b')
  const own = await gate.enter('account 1')
  assert.deepEqual([gate.running, gate.waiting], [3, 1])
  first()
  ;(await second)()
  for (const leave of [other, own]) leave()
  assert.deepEqual([gate.running, gate.waiting], [0, 0])
})

test('an address that stops waiting leaves both parts of a shared gate', async () => {
  const gate = new SharedGate({ running: 1, waiting: 10 })
  const leave = await gate.enter('account 1')
  const leaving = new AbortController()
  const waiting = gate.enter('address a', leaving.signal)
  await new Promise(setImmediate)
  leaving.abort(new Error('left'))
  await assert.rejects(waiting, /left/)
  leave()
  ;(await gate.enter('address b'))()
  assert.deepEqual([gate.running, gate.waiting], [0, 0])
})
