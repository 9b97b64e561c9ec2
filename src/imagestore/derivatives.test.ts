import assert from 'node:assert/strict'
import { readdir, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { filesUnder } from '../../test/durability/folders.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { DerivativeCache, type Render } from './derivatives.ts'
import { DerivativeFolder } from './derivative-folder.ts'
import type { Client } from '../lib/client.ts'
import { Gate } from '../lib/gate.ts'

const NEVER = new AbortController().signal
const KEY = 'abkey.1'
const MIB = 1024 * 1024

interface Parts {
  readonly root?: string
  readonly cap?: number
  readonly gate?: Gate
}

function openCache({ root, cap = 64 * MIB, gate = new Gate({ running: 4, waiting: 100 }) }: Parts) {
  const faults: unknown[] = []
  const onFault = (_operation: string, error: unknown) => void faults.push(error)
  const folder = root === undefined ? undefined : new DerivativeFolder(root, cap, onFault)
  const cache = new DerivativeCache(folder, gate, async (keys) => new Set(keys))
  return { cache, folder, faults }
}

/** A WebP for those who look at its container only. */
function toWebp(size: number): Buffer {
  const bytes = Buffer.alloc(size, 7)
  bytes.write('RIFF')
  bytes.writeUInt32LE(size - 8, 4)
  bytes.write('WEBP', 8)
  return bytes
}

/** An engine that makes the same of everything, and counts. */
function maker(size = 1_000, wait: Promise<void> = Promise.resolve()) {
  const made = { count: 0 }
  const make: Render = async () => {
    made.count++
    await wait
    return { kind: 'image', bytes: toWebp(size), mime: 'image/webp' }
  }
  return { made, make }
}

const bytesOf = (found: Awaited<ReturnType<DerivativeCache['get']>>) => {
  assert.equal(found?.kind, 'image')
  assert.equal(found.mime, 'image/webp')
  return Buffer.from(found.bytes)
}

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
    const both = Promise.allSettled(
      [one, two].map(({ signal }) => cache.get(KEY, 'a', make, { client: 'address a', signal })),
    )
    // Until rendering has started.
    while (signals.length === 0) await new Promise(setImmediate)
    one.abort()
    assert.equal(signals[0]?.aborted, false)
    two.abort()
    assert.deepEqual(
      (await both).map(({ status }) => status),
      ['rejected', 'rejected'],
    )
    assert.equal(signals[0]?.aborted, true)
    const { made, make: renderAgain } = maker()
    const again = await cache.get(KEY, 'a', renderAgain)
    assert.deepEqual([again?.kind, made.count, signals.length], ['image', 1, 1])
    await cache.close()
  })

  test('a request for what another client waits for is served in its own turn, and so is the other', async () => {
    const gate = new Gate({ running: 1, waiting: 100 })
    const { cache } = openCache({ gate })
    const order: string[] = []
    const ends: (() => void)[] = []
    const get = async (name: string, client: Client, signal = new AbortController().signal) => {
      const render: Render = async () => {
        order.push(name)
        await new Promise<void>((resolve) => ends.push(resolve))
        return { kind: 'image', bytes: Buffer.from(name), mime: 'image/webp' }
      }
      return bytesOf(await cache.get(KEY, name, render, { client, signal })).toString()
    }
    const busy = ['a1', 'a2', 'a3', 'a4'].map((name) => get(name, 'address a'))
    while (gate.waiting < 3) await new Promise(setImmediate)
    const joined = get('a4', 'address b')
    const impatient = new AbortController()
    const left = assert.rejects(get('a3', 'address b', impatient.signal))
    while (gate.waiting < 5) await new Promise(setImmediate)
    impatient.abort()
    await left
    for (let i = 0; i < 4; i++) {
      while (ends.length <= i) await new Promise(setImmediate)
      ends[i]?.()
    }
    assert.deepEqual([await joined, ...(await Promise.all(busy))], ['a4', 'a1', 'a2', 'a3', 'a4'])
    assert.deepEqual(order, ['a1', 'a4', 'a2', 'a3'])
    assert.equal(gate.running + gate.waiting, 0)
  })

  test('a file that is not whole is not served', async () => {
    await using folder = await temporaryFolder()
    const { made, make } = maker()
    const path = join(folder.path, KEY.slice(0, 2), KEY, 'a')
    for (const tear of [
      (size: number) => truncate(path, size - 1),
      () => truncate(path, 0),
      // Room without bytes.
      (size: number) => writeFile(path, Buffer.alloc(size)),
    ]) {
      const { cache } = openCache({ root: folder.path })
      bytesOf(await cache.get(KEY, 'a', make))
      await cache.close()
      await tear((await stat(path)).size)
      const before = made.count
      const again = openCache({ root: folder.path })
      assert.ok(bytesOf(await again.cache.get(KEY, 'a', make)).equals(toWebp(1_000)))
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
      await disk?.sweep(NEVER)
      bytesOf(await cache.get(blobKey, 'a', make))
      const kept = join(folder.path, blobKey.slice(0, 2), blobKey, 'a')
      while ((await stat(kept).catch(() => undefined)) === undefined) await new Promise(setImmediate)
      // One is in constant use; the others are older the earlier they were rendered.
      const age = blobKey === '0key.0' ? 0 : 100_000 - i * 1_000
      const usedAt = new Date(Date.now() - age)
      await utimes(kept, usedAt, usedAt)
    }
    await disk?.sweep(NEVER)
    const sizes = (await readdir(folder.path, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
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
