import assert from 'node:assert/strict'
import { test } from 'node:test'
import { empty } from '../sql.ts'
import { Follower } from './follower.ts'

/** A follower of a log, and what it applied: the first and the last id of each page. */
async function startFollower(maxBehind = Infinity) {
  const log = { newest: 0 }
  const view = () => ({ epoch: '', newest: log.newest, visible: String(log.newest) })
  const applied: string[] = []
  const stopping = new AbortController()
  const follower = new Follower({
    log: {
      view: async () => view(),
      async unseen({ visible }, _selection, { after, count }) {
        const first = Math.max(Number(visible), after)
        const last = Math.min(log.newest, first + count)
        const text = last === first ? '' : `${first + 1} to ${last}`
        return { text, count: last - first, total: log.newest - first, last, view: view() }
      },
    },
    scanner: { first: async () => undefined, all: async () => [], values: async () => [] },
    selection: { where: empty, json: empty },
    async apply(text, _count, isOverlapping, done) {
      applied.push(isOverlapping ? `${text} again` : text)
      done()
    },
    maxBehind: () => maxBehind,
    signal: stopping.signal,
  })
  await follower.begin()
  assert.equal(await follower.catchUp(), 'current')
  return { follower, applied, stopping, log }
}

test('changes are applied once, in pages that limit memory', async () => {
  const { follower, applied, log } = await startFollower()
  for (const newest of [300, 50_300, 200_300]) {
    log.newest = newest
    assert.equal(await follower.catchUp(), 'current')
    assert.equal(follower.seen?.newest, newest)
  }
  assert.deepEqual(applied, [
    '1 to 300',
    '301 to 50300',
    '50301 to 115836 again',
    '115837 to 181372 again',
    '181373 to 200300 again',
  ])
})

test('what is committed while a pass reads is applied for calls after it', async () => {
  const { follower, applied, log } = await startFollower()
  log.newest = 1
  const first = follower.catchUp()
  log.newest = 2
  assert.deepEqual(await Promise.all([first, follower.catchUp(), follower.catchUp()]), [
    'current',
    'current',
    'current',
  ])
  assert.equal(applied.join().includes('2'), true)
  assert.equal(follower.seen?.newest, 2)
})

test('a stopped follower applies nothing more', async () => {
  const { follower, applied, stopping, log } = await startFollower()
  log.newest = 250_000
  stopping.abort()
  assert.equal(await follower.catchUp(), 'stopped')
  assert.deepEqual(applied, [])
})

test('if there are too many changes, none is applied', async () => {
  const { follower, applied, log } = await startFollower(500_000)
  log.newest = 500_001
  assert.equal(await follower.catchUp(), 'lost')
  assert.equal(await follower.catchUp(), 'lost')
  assert.deepEqual(applied, [])
  await follower.begin()
  log.newest = 1_000_001
  assert.equal(await follower.catchUp(), 'current')
})
