import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, makeRoom, Requesters } from './fair-queue.ts'

const job = (...clients: string[]) => ({ requesters: new Requesters(...clients) })

/** Runs jobs of `ms` each, one after the other. A client in `again` adds a job whenever one was served. */
function serve(queue: FairQueue<ReturnType<typeof job>>, ms: number, turns: number, again: string[] = []) {
  const served: string[] = []
  for (let i = 0; i < turns; i++) {
    const next = queue.next()
    if (next === undefined) break
    served.push(next.client)
    if (again.includes(next.client)) queue.push(job(next.client))
    queue.done(next.client, ms)
  }
  return served
}

test('a client with one job goes before those with many until it has used its grace time', () => {
  const queue = new FairQueue<ReturnType<typeof job>>()
  for (const client of ['a', 'b', 'c', 'a', 'b', 'c']) queue.push(job(client))
  queue.push(job('visitor'))
  assert.deepEqual(serve(queue, 400, 8, ['visitor']).slice(0, 4), ['visitor', 'visitor', 'visitor', 'a'])
})

test('clients that always have one job do not starve a long queue', () => {
  const queue = new FairQueue<ReturnType<typeof job>>()
  for (let i = 0; i < 30; i++) queue.push(job('long'))
  for (const client of ['s1', 's2', 's3']) queue.push(job(client))
  const served = serve(queue, 500, 80, ['s1', 's2', 's3'])
  const count = served.filter((client) => client === 'long').length
  assert.ok(count >= 15, `${count} of 80`)
})

test('a job runs in the turn of any of its clients', () => {
  const queue = new FairQueue<ReturnType<typeof job>>()
  const shared = job('a', 'b')
  for (const one of [job('a'), job('a'), shared, job('a')]) queue.push(one)
  assert.deepEqual(queue.next(), { job: shared, client: 'b' })
})

test('an endless crowd of new addresses leaves half of the time to applications', () => {
  const queue = new FairQueue<ReturnType<typeof job>>()
  for (let i = 0; i < 40; i++) queue.push(job('account 1'))
  for (let i = 0; i < 80; i++) queue.push(job(`link ${i}`))
  const served = serve(queue, 500, 40)
  const count = served.filter((client) => client === 'account 1').length
  assert.ok(count >= 19 && count <= 21, `${count} of 40`)
})

test('in a full queue an application takes the place of one of many addresses', () => {
  const queue = new FairQueue<ReturnType<typeof job>>()
  for (let i = 0; i < 4; i++) queue.push(job(`link ${i}`))
  const limits = { queue: 4, queuePerClient: 2 }
  assert.equal(makeRoom([queue], new Requesters('link 5'), limits).hasRoom, false)
  const { hasRoom, displaced } = makeRoom([queue], new Requesters('account 1'), limits)
  assert.ok(hasRoom)
  assert.deepEqual([...(displaced?.requesters.clients ?? [])], ['link 3'])
})
