import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { filesUnder } from '../../../test/durability/folders.ts'
import { bytesOf, KEY, maker, MIB, openCache } from '../../../test/support/derivative-caches.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Render } from './cache.ts'
import { acquireLockFile } from '../../lib/lock-file.ts'

suite('the cache of derivatives', { timeout: 30_000 }, () => {
  test('a computation is aborted when all clients have left, and starts again for the next one', async () => {
    const { cache } = openCache({})
    const signals: AbortSignal[] = []
    const make: Render = (signal) => {
      signals.push(signal)
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'aborted' }), { once: true }),
      )
    }
    const [one, two] = [new AbortController(), new AbortController()]
    const both = [one, two].map(({ signal }) => cache.get(KEY, 'a', make, { client: 'address a', signal }))
    // Until rendering has started.
    while (signals.length === 0) await new Promise(setImmediate)
    one.abort()
    assert.equal(signals[0]?.aborted, false)
    two.abort()
    assert.equal(signals[0]?.aborted, true)
    const { made, make: renderAgain } = maker()
    const again = await cache.get(KEY, 'a', renderAgain)
    assert.deepEqual([again?.kind, made.count, signals.length], ['image', 1, 1])
    assert.deepEqual(await Promise.all(both), [{ kind: 'aborted' }, { kind: 'aborted' }])
    await cache.close()
  })

  test('of two processes on one folder, one renders and the other waits for it', async () => {
    await using folder = await temporaryFolder()
    const [one, two] = [openCache({ root: folder.path }), openCache({ root: folder.path })]
    const { promise, resolve } = Promise.withResolvers<void>()
    const { made, make } = maker(1_000, promise)
    const answers = [one, one, two, two].map(({ cache }) => cache.get(KEY, 'a', make))
    setTimeout(resolve, 50)
    for (const answer of answers) assert.equal(bytesOf(await answer).length, 1_000)
    assert.equal(made.count, 1)
    assert.equal(one.cache.rendered + two.cache.rendered, 1)
    assert.equal(one.cache.diskHits + two.cache.diskHits, 1)
    await Promise.all([one.cache.close(), two.cache.close()])
    assert.deepEqual(await filesUnder(folder.path), ['a'])
  })

  test('the claim of a dead process, or of an earlier one with the same id, is ignored', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, KEY.slice(0, 2), KEY)
    await mkdir(path, { recursive: true })
    const child = fork('-e', [], { execArgv: ['-e', ''], stdio: 'ignore' })
    await once(child, 'exit')
    const { cache } = openCache({ root: folder.path })
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
      assert.ok(performance.now() - start < 9_000)
    }
    await cache.close()
  })

  test('the wait for another process is limited', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, KEY.slice(0, 2), KEY)
    await mkdir(path, { recursive: true })
    const release = await acquireLockFile(join(path, 'a.claim'))
    assert.ok(release !== undefined)
    const { cache } = openCache({ root: folder.path, waitMs: 100 })
    const { made, make } = maker()
    const start = performance.now()
    bytesOf(await cache.get(KEY, 'a', make))
    assert.ok(performance.now() - start >= 95)
    assert.equal(made.count, 1)
    await release()
    await cache.close()
  })

  test('a damaged file is not served', async () => {
    await using folder = await temporaryFolder()
    const { made, make } = maker()
    const path = join(folder.path, KEY.slice(0, 2), KEY, 'a')
    for (const tear of [
      (size: number) => truncate(path, size - 1),
      () => truncate(path, 0),
      (size: number) => writeFile(path, Buffer.alloc(size)),
      async (size: number) => writeFile(path, (await readFile(path)).fill(0, size / 2)),
    ]) {
      const { cache } = openCache({ root: folder.path })
      bytesOf(await cache.get(KEY, 'a', make))
      await cache.close()
      await tear((await stat(path)).size)
      const before = made.count
      const again = openCache({ root: folder.path })
      assert.ok(bytesOf(await again.cache.get(KEY, 'a', make)).equals(Buffer.alloc(1_000, 7)))
      assert.equal(made.count, before + 1)
      await again.cache.close()
    }
  })

  test('above the size limit the least recently used files are evicted', async () => {
    await using folder = await temporaryFolder()
    const cap = 4 * MIB
    const { cache, folder: disk } = openCache({ root: folder.path, cap })
    const { made, make } = maker(200_000)
    for (let i = 0; i < 40; i++) {
      const blobKey = `${i % 10}key.${i}`
      await disk?.sweep()
      bytesOf(await cache.get(blobKey, 'a', make))
      const kept = join(folder.path, blobKey.slice(0, 2), blobKey, 'a')
      while ((await stat(kept).catch(() => undefined)) === undefined) await new Promise(setImmediate)
      // One is in constant use; the others are older the earlier they were rendered.
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

  test('errors of the disk do not affect answers', async () => {
    await using folder = await temporaryFolder()
    const root = join(folder.path, 'file')
    await writeFile(root, '')
    const { cache, faults } = openCache({ root })
    const { made, make } = maker()
    for (const name of ['a', 'b', 'c']) bytesOf(await cache.get(KEY, name, make))
    await cache.sweepFolder()
    await cache.close()
    assert.equal(made.count, 3)
    assert.ok(faults.length > 0)
  })

  test('a failure rejects all waiting requests, and the next one tries again', async () => {
    await using folder = await temporaryFolder()
    const { cache } = openCache({ root: folder.path })
    const broken: Render = () => Promise.reject(new Error('engine'))
    await Promise.all([1, 2].map(() => assert.rejects(cache.get(KEY, 'a', broken), /engine/)))
    assert.deepEqual(await cache.get(KEY, 'a', async () => ({ kind: 'busy' })), { kind: 'busy' })
    assert.equal(await cache.get(KEY, 'a', async () => undefined), undefined)
    const { make } = maker()
    bytesOf(await cache.get(KEY, 'a', make))
    await cache.close()
    assert.deepEqual(await filesUnder(folder.path), ['a'])
  })
})
