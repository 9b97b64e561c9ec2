import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { DerivativeStore } from '../../storage/blobs/blob-store.ts'
import { filesUnder } from '../../../test/durability/folders.ts'
import { bytesOf, fakeStore, KEY, maker, openCache } from '../../../test/support/derivative-caches.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'

suite('the cache of derivatives with a shared store', { timeout: 30_000 }, () => {
  test('derivatives of deleted images are removed', async () => {
    await using folder = await temporaryFolder()
    const gone = new Set<string>()
    const { store, objects } = fakeStore()
    const { cache } = openCache({ root: folder.path, store, gone })
    const { make } = maker()
    bytesOf(await cache.get(KEY, 'a', make))
    bytesOf(await cache.get('cd.2', 'a', make))
    while (objects.size < 2) await new Promise(setImmediate)
    // Deleted by another node, which cannot reach this node's disk.
    gone.add(KEY)
    await cache.sweepFolder()
    assert.deepEqual([(await filesUnder(folder.path)).length, objects.size], [1, 2])
    // Finished after the deletion.
    bytesOf(await cache.get(KEY, 'b', make))
    await cache.close()
    assert.deepEqual([...objects.keys()], ['cd.2/a'])
    assert.equal((await filesUnder(folder.path)).length, 1)
  })

  test('another node finds a derivative in the store and stores it on its own disk', async () => {
    await using folders = await temporaryFolder()
    const { store, objects } = fakeStore()
    const one = openCache({ root: join(folders.path, 'one'), store })
    const { made, make } = maker()
    bytesOf(await one.cache.get(KEY, 'a', make))
    await one.cache.close()
    const two = openCache({ root: join(folders.path, 'two'), store })
    bytesOf(await two.cache.get(KEY, 'a', make))
    await two.cache.close()
    assert.deepEqual([made.count, two.cache.sharedHits], [1, 1])
    objects.clear()
    const again = openCache({ root: join(folders.path, 'two'), store })
    bytesOf(await again.cache.get(KEY, 'a', make))
    assert.equal(made.count, 1)
    // A damaged object is rendered again.
    objects.set(`${KEY}/b`, { bytes: Buffer.from('CTD1 and no more'), writtenAt: 0 })
    bytesOf(await again.cache.get(KEY, 'b', make))
    assert.equal(made.count, 2)
    await again.cache.close()
  })

  test('a failing store is paused and does not affect answers', async () => {
    const { store } = fakeStore()
    let asked = 0
    const failing: DerivativeStore = {
      ...store,
      get: () => {
        asked++
        return Promise.reject(new Error('no'))
      },
      put: () => Promise.reject(new Error('no')),
    }
    const { cache, faults } = openCache({ store: failing })
    const { made, make } = maker()
    for (let i = 0; i < 20; i++) bytesOf(await cache.get(KEY, `n${i}`, make))
    await cache.close()
    assert.equal(made.count, 20)
    assert.ok(asked <= 3, `asked ${asked} times`)
    assert.ok(faults.length > 0)
  })

  test('the sweep removes old derivatives and those of deleted images, one first character per hour', async () => {
    const { store, objects } = fakeStore()
    const { cache } = openCache({ store, gone: new Set(['agone.1']) })
    const { signal } = new AbortController()
    const hour = 3_600_000
    const now = 32 * hour * 1_000
    const fresh = { bytes: Buffer.alloc(0), writtenAt: now - hour }
    objects.set('agone.1/x', fresh).set('aheld.1/x', fresh).set('bheld.1/x', fresh)
    objects.set('aheld.1/old', { ...fresh, writtenAt: now - 31 * 24 * hour })
    assert.equal(await cache.sweepShared(now, signal), 2)
    assert.deepEqual([...objects.keys()], ['aheld.1/x', 'bheld.1/x'])
    assert.equal(await cache.sweepShared(now + 32 * 23 * hour + hour, signal), 1)
    assert.deepEqual([...objects.keys()], ['aheld.1/x'])
  })
})
