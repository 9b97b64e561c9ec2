import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cursorAt, partsOf } from '../../storage/database/changes/change.ts'
import { ChangeFollower, maxChangesBehind, ReadYourWrites } from './change-follower.ts'

test('the number of changes followed grows with the records', () => {
  assert.deepEqual([0, 1_000_000, 2_000_001].map(maxChangesBehind), [300_000, 300_000, 500_000])
})

const EPOCH = '0123456789ab'

/** A follower of a log with this many changes, and what it applied: the number of changes, and up to which one. */
function followerOf(newest: number, records: number) {
  const applied: [count: number, id: number][] = []
  const stopping = new AbortController()
  const follower = new ChangeFollower({
    database: {
      changes: {
        head: async () => cursorAt(EPOCH, newest),
        async domainsAsText(cursor, limit) {
          const id = partsOf(cursor)?.id ?? 0
          const count = Math.min(limit, newest - id)
          const last = id + count
          return { kind: 'text', text: 'x', count, cursor: cursorAt(EPOCH, last), left: newest - last }
        },
        hasMoreThan: async (count, cursor) => newest - (partsOf(cursor)?.id ?? 0) > count,
      },
      scanner: { first: async () => undefined, all: async () => [], values: async () => [] },
      version: () => newest,
    },
    writes: new ReadYourWrites(),
    async apply(_texts, count) {
      follower.applied()
      applied.push([count, follower.appliedId])
    },
    records: () => records,
    signal: stopping.signal,
    report: (error) => assert.fail(String(error)),
  })
  follower.resume(cursorAt(EPOCH, 0))
  return { follower, applied, stopping }
}

test('many changes are applied in portions, so that they are never in memory together', async () => {
  const { follower, applied } = followerOf(250_000, 1_000_000)
  assert.equal(await follower.catchUp(), 'current')
  assert.deepEqual(applied, [
    [100_300, 100_300],
    [100_300, 200_600],
    [49_400, 250_000],
  ])
  assert.equal(follower.isCurrent, true)
})

test('a stopped index applies no further portion', async () => {
  const { follower, applied, stopping } = followerOf(250_000, 1_000_000)
  stopping.abort()
  assert.equal(await follower.catchUp(), 'behind')
  assert.deepEqual(applied, [])
})

test('if reloading is faster than following, nothing is applied', async () => {
  const { follower, applied } = followerOf(500_301, 2_000_000)
  assert.equal(await follower.catchUp(), 'lost')
  assert.deepEqual(applied, [])
  const followed = followerOf(500_300, 2_000_000)
  assert.equal(await followed.follower.catchUp(), 'current')
})

const write = () => Promise.resolve('stored')

test('writers wait for the lists only if someone reads them', { timeout: 60_000 }, async () => {
  const own = new ReadYourWrites()
  const settling = Promise.withResolvers<void>()
  assert.equal(await own.run(write, () => settling.promise), 'stored')

  const read = new ReadYourWrites()
  read.noteRead()
  let isAnswered = false
  const later = Promise.withResolvers<void>()
  const answer = read.run(write, () => later.promise).then(() => (isAnswered = true))
  await new Promise(setImmediate)
  assert.equal(isAnswered, false)
  later.resolve()
  await answer
})

test('a single writer does not wait', { timeout: 60_000 }, async () => {
  const own = new ReadYourWrites()
  const first = Promise.withResolvers<void>()
  await own.run(write, () => first.promise)
  let isAnswered = false
  const second = own.run(write, () => Promise.resolve()).then(() => (isAnswered = true))
  await new Promise(setImmediate)
  assert.equal(isAnswered, false)
  first.resolve()
  await second
})
