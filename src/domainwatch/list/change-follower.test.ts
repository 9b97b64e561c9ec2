import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChangeFollower, maxChangesBehind, ReadYourWrites } from './change-follower.ts'

test('the number of changes followed grows with the records', () => {
  assert.deepEqual([0, 1_000_000, 2_000_001].map(maxChangesBehind), [300_000, 300_000, 500_000])
})

/** A follower of a log with this many changes, and what it applied: the first and the last id of each page. */
async function followerOf(newest: number, records: number) {
  const log = { newest: 0 }
  const view = () => ({ epoch: '', newest: log.newest, visible: String(log.newest) })
  const applied: string[] = []
  const stopping = new AbortController()
  const follower = new ChangeFollower({
    database: {
      changes: {
        view: async () => view(),
        async unseen({ visible }, { after, count }) {
          const first = Math.max(Number(visible), after)
          const last = Math.min(log.newest, first + count)
          const text = last === first ? '' : `${first + 1} to ${last}`
          return { text, count: last - first, total: log.newest - first, last, view: view() }
        },
      },
      scanner: { first: async () => undefined, all: async () => [], values: async () => [] },
      version: () => log.newest,
    },
    writes: new ReadYourWrites(),
    async apply(text, _count, overlapping, done) {
      applied.push(overlapping ? `${text} again` : text)
      done()
    },
    records: () => records,
    signal: stopping.signal,
  })
  await follower.begin()
  assert.equal(await follower.catchUp(), 'current')
  log.newest = newest
  return { follower, applied, stopping, log }
}

test('changes are applied once, in pages that limit memory', async () => {
  const { follower, applied, log } = await followerOf(300, 1_000_000)
  assert.equal(follower.isCurrent, false)
  assert.equal(await follower.catchUp(), 'current')
  assert.equal(follower.isCurrent, true)
  log.newest = 50_300
  assert.equal(await follower.catchUp(), 'current')
  log.newest = 200_300
  assert.equal(await follower.catchUp(), 'current')
  assert.deepEqual(applied, [
    '1 to 300',
    '301 to 50300',
    '50301 to 115836 again',
    '115837 to 181372 again',
    '181373 to 200300 again',
  ])
  assert.equal(follower.isCurrent, true)
})

test('a stopped index applies nothing more', async () => {
  const { follower, applied, stopping } = await followerOf(250_000, 1_000_000)
  stopping.abort()
  assert.equal(await follower.catchUp(), 'behind')
  assert.deepEqual(applied, [])
})

test('if reloading is faster than following, nothing is applied', async () => {
  const { follower, applied } = await followerOf(500_001, 2_000_000)
  assert.equal(await follower.catchUp(), 'lost')
  assert.deepEqual(applied, [])
  const followed = await followerOf(500_000, 2_000_000)
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
