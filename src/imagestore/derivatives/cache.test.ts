import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { DerivativeStore } from '../../blobs/derivative-store.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { filesUnder } from '../../../test/durability/folders.ts'
import { DerivativeCache, type Make } from './cache.ts'
import { claim } from './claim.ts'
import { DerivativeFolder } from './folder.ts'
import { SharedDerivatives } from './shared.ts'

const KEY = 'abkey.1'
const MIB = 1024 * 1024

/** A store in memory. */
function fakeStore() {
  const objects = new Map<string, { bytes: Buffer; writtenAt: number }>()
  const store: DerivativeStore = {
    get: async (blobKey, name) => objects.get(`${blobKey}/${name}`)?.bytes,
    put: async (blobKey, name, bytes) => void objects.set(`${blobKey}/${name}`, { bytes, writtenAt: 0 }),
    remove: async (blobKey, name) => void objects.delete(`${blobKey}/${name}`),
    async removeAll(blobKey) {
      for (const key of objects.keys()) if (key.startsWith(`${blobKey}/`)) objects.delete(key)
    },
    async *list(start) {
      for (const [key, { writtenAt }] of objects) {
        const [blobKey = '', name = ''] = key.split('/')
        if (key.startsWith(start)) yield { blobKey, name, writtenAt }
      }
    },
    close: () => {},
  }
  return { store, objects }
}

interface Parts {
  readonly root?: string
  readonly cap?: number
  readonly waitMs?: number
  readonly store?: DerivativeStore
  readonly gone?: Set<string>
}

function open({ root, cap = 64 * MIB, waitMs = 10_000, store, gone = new Set() }: Parts) {
  const faults: unknown[] = []
  const folder =
    root === undefined
      ? undefined
      : new DerivativeFolder(root, { cap, waitMs, onFault: (_operation, error) => faults.push(error) })
  const shared = store && new SharedDerivatives(store, (error) => faults.push(error))
  const cache = new DerivativeCache(
    folder,
    shared,
    async (keys) => new Set(keys.filter((key) => !gone.has(key))),
  )
  return { cache, folder, faults }
}

/** An engine that makes the same of everything, and counts. */
function maker(size = 1_000, wait: Promise<void> = Promise.resolve()) {
  const made = { count: 0 }
  const make: Make = async () => {
    made.count++
    await wait
    return { kind: 'image', bytes: Buffer.alloc(size, 7), mime: 'image/webp', width: 1, height: 1 }
  }
  return { made, make }
}

const bytesOf = (found: Awaited<ReturnType<DerivativeCache['get']>>) => {
  assert.equal(found?.kind, 'bytes')
  assert.equal(found.mime, 'image/webp')
  return Buffer.from(found.bytes)
}

suite('the cache of derivatives, its parts', { timeout: 30_000 }, () => {
  test('work is given up when all who wait for it have left, and begun anew for who comes then', async () => {
    const { cache } = open({})
    const signals: AbortSignal[] = []
    const make: Make = (signal) => {
      signals.push(signal)
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true }),
      )
    }
    const [one, two] = [new AbortController(), new AbortController()]
    const both = [cache.get(KEY, 'a', make, one.signal), cache.get(KEY, 'a', make, two.signal)]
    // Until the work has begun.
    while (signals.length === 0) await new Promise(setImmediate)
    one.abort()
    assert.equal(signals[0]?.aborted, false)
    two.abort()
    assert.equal(signals[0]?.aborted, true)
    const { made, make: makeAnew } = maker()
    const anew = await cache.get(KEY, 'a', makeAnew)
    assert.deepEqual([anew?.kind, made.count, signals.length], ['bytes', 1, 1])
    assert.deepEqual(await Promise.all(both), [{ kind: 'aborted' }, { kind: 'aborted' }])
    await cache.close()
  })

  test('two processes on one folder: one makes it, the other waits and finds it', async () => {
    await using folder = await temporaryFolder()
    const [one, two] = [open({ root: folder.path }), open({ root: folder.path })]
    const { promise, resolve } = Promise.withResolvers<void>()
    const { made, make } = maker(1_000, promise)
    const answers = [one, one, two, two].map(({ cache }) => cache.get(KEY, 'a', make))
    setTimeout(resolve, 50)
    for (const answer of answers) assert.equal(bytesOf(await answer).length, 1_000)
    assert.equal(made.count, 1)
    assert.equal(one.cache.made + two.cache.made, 1)
    assert.equal(one.cache.diskHits + two.cache.diskHits, 1)
    await Promise.all([one.cache.close(), two.cache.close()])
    assert.deepEqual(await filesUnder(folder.path), ['a'])
  })

  test('the claim of a process that died, or of one before it with its number, holds nobody up', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, KEY.slice(0, 2), KEY)
    await mkdir(path, { recursive: true })
    const child = fork('-e', [], { execArgv: ['-e', ''], stdio: 'ignore' })
    await once(child, 'exit')
    const { cache } = open({ root: folder.path })
    for (const [name, pid] of [
      ['dead', child.pid],
      ['former', process.pid],
      ['odd', 'x'],
    ]) {
      await writeFile(join(path, `${name}.claim`), String(pid))
      const { made, make } = maker()
      const start = performance.now()
      bytesOf(await cache.get(KEY, String(name), make))
      assert.equal(made.count, 1)
      assert.ok(performance.now() - start < 5_000)
    }
    await cache.close()
  })

  test('somebody who takes too long is not waited for, and a living one is', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, KEY.slice(0, 2), KEY)
    await mkdir(path, { recursive: true })
    const release = await claim(join(path, 'a.claim'))
    assert.ok(release !== undefined)
    const { cache } = open({ root: folder.path, waitMs: 100 })
    const { made, make } = maker()
    const start = performance.now()
    bytesOf(await cache.get(KEY, 'a', make))
    assert.ok(performance.now() - start >= 95)
    assert.equal(made.count, 1)
    await release()
    await cache.close()
  })

  test('a file that is torn is not served', async () => {
    await using folder = await temporaryFolder()
    const { made, make } = maker()
    const path = join(folder.path, KEY.slice(0, 2), KEY, 'a')
    for (const tear of [
      (size: number) => truncate(path, size - 1),
      () => truncate(path, 0),
      (size: number) => writeFile(path, Buffer.alloc(size)),
      async (size: number) => writeFile(path, (await readFile(path)).fill(0, size / 2)),
    ]) {
      const { cache } = open({ root: folder.path })
      bytesOf(await cache.get(KEY, 'a', make))
      await cache.close()
      await tear((await stat(path)).size)
      const before = made.count
      const again = open({ root: folder.path })
      assert.ok(bytesOf(await again.cache.get(KEY, 'a', make)).equals(Buffer.alloc(1_000, 7)))
      assert.equal(made.count, before + 1)
      await again.cache.close()
    }
  })

  test('past the cap what was unused for longest goes', async () => {
    await using folder = await temporaryFolder()
    const cap = 4 * MIB
    const { cache, folder: disk } = open({ root: folder.path, cap })
    const { made, make } = maker(200_000)
    for (let i = 0; i < 40; i++) {
      const blobKey = `${i % 10}key.${i}`
      await disk?.sweep()
      bytesOf(await cache.get(blobKey, 'a', make))
      const kept = join(folder.path, blobKey.slice(0, 2), blobKey, 'a')
      while ((await stat(kept).catch(() => undefined)) === undefined) await new Promise(setImmediate)
      // One is as if it were asked for again and again, the others the older the earlier they were made.
      const age = blobKey === '0key.0' ? 0 : 100_000 - i * 1_000
      const usedAt = new Date(Date.now() - age)
      await utimes(kept, usedAt, usedAt)
    }
    await disk?.sweep()
    const sizes = (await readdir(folder.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && entry.name !== 'sweep.total')
      .map((entry) => entry.parentPath.split('/').at(-1) ?? '')
    assert.ok(sizes.length * 200_000 <= cap, `${sizes.length} files`)
    assert.ok(sizes.length * 200_000 >= cap / 2, `${sizes.length} files`)
    const newest = Array.from({ length: sizes.length - 1 }, (_, i) => 39 - i)
    assert.deepEqual(
      sizes.map((key) => Number(key.split('.')[1])).sort((a, b) => a - b),
      [0, ...newest.sort((a, b) => a - b)],
    )
    bytesOf(await cache.get('0key.0', 'a', make))
    assert.equal(made.count, 40)
    bytesOf(await cache.get('1key.1', 'a', make))
    assert.equal(made.count, 41)
    await cache.close()
  })

  test('what is of an image that is gone does not stay, whoever left it', async () => {
    await using folder = await temporaryFolder()
    const gone = new Set<string>()
    const { store, objects } = fakeStore()
    const { cache } = open({ root: folder.path, store, gone })
    const { make } = maker()
    bytesOf(await cache.get(KEY, 'a', make))
    bytesOf(await cache.get('cd.2', 'a', make))
    while (objects.size < 2) await new Promise(setImmediate)
    // Deleted by another node, which cannot reach this one's disk.
    gone.add(KEY)
    await cache.sweepFolder()
    assert.deepEqual([(await filesUnder(folder.path)).length, objects.size], [1, 2])
    // Finished after the deletion.
    bytesOf(await cache.get(KEY, 'b', make))
    await cache.close()
    assert.deepEqual([...objects.keys()], ['cd.2/a'])
    assert.equal((await filesUnder(folder.path)).length, 1)
  })

  test('another node finds it in the store, and keeps it on its own disk', async () => {
    await using folders = await temporaryFolder()
    const { store, objects } = fakeStore()
    const one = open({ root: join(folders.path, 'one'), store })
    const { made, make } = maker()
    bytesOf(await one.cache.get(KEY, 'a', make))
    await one.cache.close()
    const two = open({ root: join(folders.path, 'two'), store })
    bytesOf(await two.cache.get(KEY, 'a', make))
    await two.cache.close()
    assert.deepEqual([made.count, two.cache.sharedHits], [1, 1])
    objects.clear()
    const again = open({ root: join(folders.path, 'two'), store })
    bytesOf(await again.cache.get(KEY, 'a', make))
    assert.equal(made.count, 1)
    // What arrives torn is made anew.
    objects.set(`${KEY}/b`, { bytes: Buffer.from('CTD1 and no more'), writtenAt: 0 })
    bytesOf(await again.cache.get(KEY, 'b', make))
    assert.equal(made.count, 2)
    await again.cache.close()
  })

  test('a store that fails is let alone after a while, and never an answer less', async () => {
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
    const { cache, faults } = open({ store: failing })
    const { made, make } = maker()
    for (let i = 0; i < 20; i++) bytesOf(await cache.get(KEY, `n${i}`, make))
    await cache.close()
    assert.equal(made.count, 20)
    assert.ok(asked <= 3, `asked ${asked} times`)
    assert.ok(faults.length > 0)
  })

  test('the sweep of the store removes what is old or of an image that is gone, a letter an hour', async () => {
    const { store, objects } = fakeStore()
    const { cache } = open({ store, gone: new Set(['agone.1']) })
    const hour = 3_600_000
    const now = 32 * hour * 1_000
    const fresh = { bytes: Buffer.alloc(0), writtenAt: now - hour }
    objects.set('agone.1/x', fresh).set('aheld.1/x', fresh).set('bheld.1/x', fresh)
    objects.set('aheld.1/old', { ...fresh, writtenAt: now - 31 * 24 * hour })
    assert.equal(await cache.sweepShared(now), 2)
    assert.deepEqual([...objects.keys()], ['aheld.1/x', 'bheld.1/x'])
    assert.equal(await cache.sweepShared(now + 32 * 23 * hour + hour), 1)
    assert.deepEqual([...objects.keys()], ['aheld.1/x'])
  })

  test('faults of the disk are nobody’s but the disk’s', async () => {
    await using folder = await temporaryFolder()
    const root = join(folder.path, 'file')
    await writeFile(root, '')
    const { cache, faults } = open({ root })
    const { made, make } = maker()
    for (const name of ['a', 'b', 'c']) bytesOf(await cache.get(KEY, name, make))
    await cache.sweepFolder()
    await cache.close()
    assert.equal(made.count, 3)
    assert.ok(faults.length > 0)
  })

  test('a failure is told to all who wait, and the next one tries anew', async () => {
    await using folder = await temporaryFolder()
    const { cache } = open({ root: folder.path })
    const broken: Make = () => Promise.reject(new Error('engine'))
    await Promise.all([1, 2].map(() => assert.rejects(cache.get(KEY, 'a', broken), /engine/)))
    assert.deepEqual(await cache.get(KEY, 'a', async () => ({ kind: 'busy' })), { kind: 'busy' })
    assert.equal(await cache.get(KEY, 'a', async () => undefined), undefined)
    const { make } = maker()
    bytesOf(await cache.get(KEY, 'a', make))
    await cache.close()
    assert.deepEqual(await filesUnder(folder.path), ['a'])
  })
})
