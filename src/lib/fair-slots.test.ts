import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { OverloadError } from './errors.ts'
import { FairSlots, groupBefore, type FairSlotsOptions } from './fair-slots.ts'

const OPTIONS: FairSlotsOptions = {
  slots: 2,
  slotsPerClient: 2,
  maxWaiting: 8,
  maxWaitingPerClient: 8,
  timeoutMs: 60_000,
}

/** Takes slots and records the order in which they are granted. */
function recorder(slots: FairSlots) {
  const granted: string[] = []
  const releases = new Map<string, () => void>()
  return {
    granted,
    take: (name: string, signal?: AbortSignal) =>
      slots.take(name.charAt(0), signal).then((release) => {
        granted.push(name)
        releases.set(name, release)
      }),
    release: async (name: string) => {
      releases.get(name)?.()
      await new Promise(setImmediate)
    },
  }
}

test('a new client is served before the queue of one that already runs tasks', async () => {
  const { granted, take, release } = recorder(new FairSlots(OPTIONS))
  await Promise.all([take('a1'), take('a2')])
  const later = ['a3', 'a4', 'b1', 'b2'].map((name) => take(name))
  await release('a1')
  await release('a2')
  assert.deepEqual(granted, ['a1', 'a2', 'b1', 'a3'])
  await release('b1')
  await release('a3')
  await Promise.all(later)
  assert.deepEqual(granted, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4'])
})

test('one client never holds more than its own slots', async () => {
  const slots = new FairSlots({ ...OPTIONS, slotsPerClient: 1 })
  const { granted, take, release } = recorder(slots)
  await take('a1')
  const second = take('a2')
  await take('b1')
  assert.deepEqual(granted, ['a1', 'b1'])
  await release('b1')
  assert.deepEqual(granted, ['a1', 'b1'])
  await release('a1')
  await second
  assert.deepEqual(granted, ['a1', 'b1', 'a2'])
})

test('a full queue rejects the newest task of the longest queue', async () => {
  const { granted, take, release } = recorder(new FairSlots({ ...OPTIONS, maxWaiting: 3 }))
  await Promise.all([take('a1'), take('a2')])
  const kept = ['a3', 'a4'].map((name) => take(name))
  const displaced = assert.rejects(take('a5'), OverloadError)
  kept.push(take('b1'))
  await displaced
  await assert.rejects(take('b2'), OverloadError)
  await assert.rejects(take('a6'), OverloadError)
  for (const name of ['a1', 'a2', 'b1']) await release(name)
  await Promise.all(kept)
  assert.deepEqual(granted, ['a1', 'a2', 'b1', 'a3', 'a4'])
})

test('a client is rejected beyond its own queue limit', async () => {
  const { take, release } = recorder(new FairSlots({ ...OPTIONS, maxWaitingPerClient: 1 }))
  await Promise.all([take('a1'), take('a2')])
  const waiting = take('a3')
  await assert.rejects(take('a4'), OverloadError)
  await release('a1')
  await waiting
})

test('clients that ask one at a time do not starve a queue', async () => {
  const slots = new FairSlots({ ...OPTIONS, slots: 1, maxWaiting: 100 })
  const served: string[] = []
  const task = (client: string) => () => {
    served.push(client)
    return Promise.resolve()
  }
  const queue = Array.from({ length: 5 }, () => slots.run('queue', task('queue')))
  const serial = ['a', 'b', 'c'].map(async (client) => {
    for (let i = 0; i < 30; i++) await slots.run(client, task(client))
  })
  await Promise.all([...queue, ...serial])
  assert.ok(served.lastIndexOf('queue') < 24, served.join(' '))
})

test('a wait times out, and an aborted one ends', async () => {
  const slots = new FairSlots({ ...OPTIONS, timeoutMs: 5 })
  const { take } = recorder(slots)
  await Promise.all([take('a1'), take('a2')])
  await assert.rejects(take('b1'), OverloadError)
  const leaving = new AbortController()
  const left = assert.rejects(take('b2', leaving.signal), /left/)
  leaving.abort(new Error('left'))
  await left
  await assert.rejects(take('b3', leaving.signal), /left/)
  assert.equal(slots.waiting, 0)
})

test('whatever clients do, limits hold and every task ends', async () => {
  const client = fc.constantFrom('a', 'b', 'c')
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        slots: fc.integer({ min: 1, max: 4 }),
        slotsPerClient: fc.integer({ min: 1, max: 4 }),
        maxWaiting: fc.integer({ min: 0, max: 6 }),
        maxWaitingPerClient: fc.integer({ min: 0, max: 6 }),
      }),
      fc.array(fc.tuple(client, fc.nat(3)), { maxLength: 40 }),
      async (limits, tasks) => {
        const slots = new FairSlots({ ...limits, timeoutMs: 60_000 })
        const running = new Map<string, number>()
        const outcomes = await Promise.allSettled(
          tasks.map(([name, turns]) =>
            slots.run(name, async () => {
              running.set(name, (running.get(name) ?? 0) + 1)
              assert.ok((running.get(name) ?? 0) <= limits.slotsPerClient)
              assert.ok(slots.running <= limits.slots && slots.waiting <= limits.maxWaiting)
              for (let turn = 0; turn < turns; turn++) await Promise.resolve()
              running.set(name, (running.get(name) ?? 0) - 1)
            }),
          ),
        )
        const faults = outcomes.flatMap((outcome) =>
          outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
        )
        assert.ok(faults.every((fault) => fault instanceof OverloadError))
        assert.deepEqual([slots.running, slots.waiting], [0, 0])
      },
    ),
    { numRuns: 300 },
  )
})

test('a crowd of clients in one group neither delays nor displaces the clients of another', async () => {
  const slots = new FairSlots({ ...OPTIONS, maxWaiting: 4, groupOf: groupBefore })
  const served: string[] = []
  const run = (client: string) => slots.run(client, async () => void served.push(client))
  const releases = [await slots.take('crowd 1'), await slots.take('crowd 2')]
  const kept = ['crowd 3', 'crowd 4', 'crowd 5'].map(run)
  const displaced = assert.rejects(run('crowd 6'), OverloadError)
  // Makes room, once for each of its tasks, as long as it has fewer.
  kept.push(run('own 1'))
  await assert.rejects(run('crowd 7'), OverloadError)
  for (const release of releases) release()
  await displaced
  await Promise.all(kept)
  assert.equal(served[0], 'own 1')
})

/** Runs tasks in a single slot that is taken until all of them wait. Returns the clients in the order in which they were served. */
async function servedInTurn(tasks: readonly (readonly [client: string, cost: number])[]): Promise<string> {
  const slots = new FairSlots({
    ...OPTIONS,
    slots: 1,
    maxWaiting: 100,
    maxWaitingPerClient: 100,
    groupOf: groupBefore,
  })
  const served: string[] = []
  const release = await slots.take('first', undefined, 1)
  const ends = tasks.map(([client, cost]) =>
    slots.run(client, async () => void served.push(client), undefined, cost),
  )
  release()
  await Promise.all(ends)
  return served.join(', ')
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

test('clients get equal shares of the cost: cheap tasks go first, until they have cost as much as an expensive one', async () => {
  const large = ['a', 'b', 'c'].map((client) => [client, 5] as const)
  const small = times(7, ['d', 1] as const)
  assert.equal(await servedInTurn([...large, ...small, ['e', 1]]), 'd, e, d, d, d, a, b, c, d, d, d')
})

test('a client cannot get more by tasks of many costs, but its cheap ones need not wait for all of its expensive ones', async () => {
  const own = times(2, ['a large', 4] as const)
  const spread = [2, 3, 4].map((cost) => [`b ${cost}`, cost] as const)
  assert.equal(
    await servedInTurn([...own, ...spread, ['a small', 1]]),
    'a small, b 2, a large, b 3, a large, b 4',
  )
})

test('clients that ask again and again do not starve an expensive task', async () => {
  const slots = new FairSlots({ ...OPTIONS, slots: 1 })
  const served: string[] = []
  const release = await slots.take('first', undefined, 1)
  const large = slots.run('large', async () => void served.push('large'), undefined, 3)
  async function askAgain(client: string): Promise<void> {
    for (let i = 0; i < 4; i++) await slots.run(client, async () => void served.push(client), undefined, 1)
  }
  const small = [askAgain('a'), askAgain('b')]
  release()
  await Promise.all([large, ...small])
  assert.equal(served.join(' '), 'a b a b large a b a b')
})

test('a client that was idle has no more than the others from then on', async () => {
  const slots = new FairSlots({ ...OPTIONS, slots: 1 })
  const served: string[] = []
  const run = (client: string, cost: number) =>
    slots.run(client, async () => void served.push(client), undefined, cost)
  await Promise.all([run('b', 1), ...times(3, 'a').map((client) => run(client, 5))])
  const release = await slots.take('a', undefined, 5)
  const tasks = [run('a', 3), ...times(5, 'b').map((client) => run(client, 1))]
  release()
  await Promise.all(tasks)
  assert.equal(served.join(' '), 'b a a a b b a b b b')
})

test('a group has no more slots than its own, in all of its clients', async () => {
  const slots = new FairSlots({ ...OPTIONS, slotsPerGroup: 1, groupOf: groupBefore })
  const held = await slots.take('a 1')
  const second = slots.take('a 2')
  const other = await slots.take('b 1')
  other()
  assert.deepEqual([slots.running, slots.waiting], [1, 1])
  held()
  ;(await second)()
})

/** Runs tasks one at a time that are charged when they end. Each client of `queues` has a number of tasks of some cost. */
async function chargedShares(
  queues: readonly (readonly [client: string, tasks: number, cost: number])[],
  total: number,
): Promise<Map<string, number>> {
  const slots = new FairSlots({
    ...OPTIONS,
    slots: 1,
    maxWaiting: 1_000,
    maxWaitingPerClient: 1_000,
    groupOf: groupBefore,
  })
  const used = new Map<string, number>()
  let sum = 0
  const first = await slots.take('first')
  const tasks = queues.flatMap(([client, tasks, cost]) =>
    times(tasks, client).map(async () => {
      const release = await slots.take(client)
      const group = groupBefore(client)
      if (sum < total) used.set(group, (used.get(group) ?? 0) + cost)
      sum += cost
      release(cost)
    }),
  )
  first()
  await Promise.all(tasks)
  return used
}

test('clients that are charged when their tasks end get equal shares, whatever a task costs', async () => {
  const used = await chargedShares(
    [
      ['a', 40, 2_000],
      ['b', 800, 100],
    ],
    40_000,
  )
  const [a = 0, b = 0] = ['a', 'b'].map((client) => used.get(client))
  assert.ok(Math.abs(a - b) <= 2_000, `${a}, ${b}`)
})

test('a crowd of clients that had nothing before leaves half of the cost to another group', async () => {
  const crowd = Array.from({ length: 80 }, (_, i) => [`crowd ${i}`, 1, 500] as const)
  const used = await chargedShares([['own 1', 40, 500], ...crowd], 20_000)
  assert.deepEqual([used.get('own'), used.get('crowd')], [10_000, 10_000])
})

test('a newcomer gets no more than the others while one runs a long task that is not charged yet', async () => {
  const slots = new FairSlots({ ...OPTIONS, maxWaiting: 20 })
  const served: string[] = []
  const run = async (client: string, cost: number) => {
    const release = await slots.take(client)
    served.push(client)
    await new Promise(setImmediate)
    release(cost)
  }
  const long = await slots.take('long')
  const own = times(5, 'a').map((client) => run(client, 1_000))
  await Promise.all(own.slice(0, 3))
  await Promise.all([...own, ...times(8, 'b').map((client) => run(client, 500))])
  assert.equal(served.join(' '), 'a a a a b b a b b b b b b')
  long()
})

test('a slot is taken without a wait only if nobody waits', async () => {
  const slots = new FairSlots({ ...OPTIONS, slots: 1 })
  const release = await slots.take('a')
  assert.equal(slots.tryTake('b'), undefined)
  release()
  slots.tryTake('b')?.()
  assert.equal(slots.running, 0)
})

test('a client displaces a task within its group if the queue of another group is equally long', async () => {
  const slots = new FairSlots({ ...OPTIONS, slots: 1, maxWaiting: 6, groupOf: groupBefore })
  const release = await slots.take('a 1')
  const served: string[] = []
  const run = (client: string) => slots.run(client, async () => void served.push(client))
  const kept = ['a 1', 'a 1', 'b 1', 'b 1', 'b 1'].map(run)
  const displaced = assert.rejects(run('a 1'), OverloadError)
  kept.push(run('a 2'))
  await displaced
  await assert.rejects(run('a 2'), OverloadError)
  release()
  await Promise.all(kept)
  assert.deepEqual(served.sort(), ['a 1', 'a 1', 'a 2', 'b 1', 'b 1', 'b 1'])
})

test('a client that has as many waiting tasks as it may displaces none', async () => {
  const limits = { slots: 1, maxWaiting: 4, maxWaitingPerClient: 1 }
  const slots = new FairSlots({ ...OPTIONS, ...limits, groupOf: groupBefore })
  const release = await slots.take('a 1')
  const served: string[] = []
  const run = (client: string) => slots.run(client, async () => void served.push(client))
  const kept = ['a 1', 'b 1', 'b 2', 'b 3'].map(run)
  await assert.rejects(run('a 1'), OverloadError)
  release()
  await Promise.all(kept)
  assert.deepEqual(served.sort(), ['a 1', 'b 1', 'b 2', 'b 3'])
})
