import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { BackgroundRemovals } from './image-removal.ts'

/** Removals that finish on demand. */
function held() {
  const begun: { key: string; end: (fault?: Error) => void }[] = []
  const removals = new BackgroundRemovals(
    (key) =>
      new Promise((resolve, reject) => {
        begun.push({ key, end: (fault) => (fault === undefined ? resolve() : reject(fault)) })
      }),
  )
  return { removals, begun }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

suite('background removals', { timeout: 60_000 }, () => {
  test('eight run at a time, and the others in order, whatever the outcome of earlier ones', async () => {
    const { removals, begun } = held()
    for (let index = 0; index < 20; index++) removals.add(`k${index}`)
    assert.equal(removals.waiting, 12)
    await turn()
    assert.equal(begun.length, 8)
    begun[0]?.end()
    begun[1]?.end(new Error('refused'))
    await turn()
    assert.deepEqual(
      begun.map(({ key }) => key),
      Array.from({ length: 10 }, (_, index) => `k${index}`),
    )
    assert.equal(removals.waiting, 10)
  })

  test('removals beyond the limit are left to the sweep', () => {
    const { removals } = held()
    for (let index = 0; index < 10_020; index++) removals.add(`k${index}`)
    assert.equal(removals.waiting, 10_000)
  })

  test('closing starts no more removals, and waits for running ones for up to a second', async () => {
    const { removals, begun } = held()
    for (let index = 0; index < 20; index++) removals.add(`k${index}`)
    await turn()
    let closed = false
    const closing = removals.close().then(() => (closed = true))
    for (const { end } of begun.slice(1)) end()
    await turn()
    assert.equal(closed, false)
    begun[0]?.end()
    await closing
    assert.equal(begun.length, 8)

    const stuck = held()
    stuck.removals.add('k')
    await turn()
    await stuck.removals.close()
  })
})
