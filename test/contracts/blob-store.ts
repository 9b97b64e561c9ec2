import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Readable } from 'node:stream'
import { BlobDamaged, type BlobStore } from '../../src/storage/blobs/blob-store.ts'
import { Staging } from '../../src/storage/blobs/staging.ts'

/** Opens the store in `folder`, empty at first. Files staged for it are in another folder next to it. */
export type OpenBlobStore = (folder: string, staging: Staging) => Promise<BlobStore>

async function collect(stream: Readable | undefined): Promise<Buffer | undefined> {
  if (stream === undefined) return undefined
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/**
 * What every implementation of `BlobStore` promises.
 * @param skip why it cannot be tested here
 */
export function blobStoreContract(name: string, open: OpenBlobStore, skip: string | false = false): void {
  suite(`blob store contract: ${name}`, { skip, timeout: 300_000 }, () => {
    const bytes = Buffer.from(Uint8Array.from({ length: 300_000 }, (_, at) => (at * 7) % 251))
    let folder: string
    let store: BlobStore
    let staging: Staging

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'catalejo-blobs-'))
      staging = await Staging.open(join(folder, 'staging'))
      store = await open(join(folder, 'store'), staging)
    })
    after(() => rm(folder, { recursive: true, force: true }))

    async function put(key: string, content: Buffer): Promise<void> {
      await using staged = await staging.write(content)
      await store.put(key, staged)
    }

    async function keys(): Promise<string[]> {
      const found: string[] = []
      for await (const { key } of store.keys()) found.push(key)
      return found.toSorted()
    }

    for (const size of [0, 1, 262_144, 262_145, 300_000]) {
      test(`${size} bytes come back whole, in every way to read them`, async () => {
        const content = bytes.subarray(0, size)
        const key = `sizes.${size}`
        await put(key, content)
        assert.deepEqual(await store.read(key, size), content)
        assert.deepEqual(await collect(await store.stream(key, 0, size - 1)), content)
        assert.deepEqual(await store.withLocalFile(key, (path) => readFile(path)), content)
      })
    }

    for (const [start, end] of [
      [0, 0],
      [0, 9],
      [299_999, 299_999],
      [100, 299_999],
      [65_535, 65_536],
      [5, 4],
    ] as const) {
      test(`streams the bytes from ${start} to ${end}`, async () => {
        const key = `range.${start}.${end}`
        await put(key, bytes)
        assert.deepEqual(await collect(await store.stream(key, start, end)), bytes.subarray(start, end + 1))
      })
    }

    test('a missing blob is undefined, and removing it is not an error', async () => {
      let isBorrowed = false
      assert.equal(await store.read('absent', 5), undefined)
      assert.equal(await store.read('absent', 5_000_000), undefined)
      assert.equal(await store.stream('absent', 0, 4), undefined)
      assert.equal(await store.withLocalFile('absent', async () => (isBorrowed = true)), undefined)
      assert.equal(isBorrowed, false)
      await store.remove('absent')
    })

    for (const size of [0, 300_000]) {
      test(`all ${size} bytes of a blob are returned with their size`, async () => {
        await put(`whole.${size}`, bytes.subarray(0, size))
        const found = await store.openWhole(`whole.${size}`)
        assert.equal(found?.size, size)
        assert.deepEqual(await collect(found?.body), bytes.subarray(0, size))
        assert.equal(await store.openWhole('absent'), undefined)
      })
    }

    test('a blob that is shorter or longer than it should be is never passed on as if it were whole', async () => {
      await put('odd', bytes.subarray(0, 1_000))
      const use = () => assert.fail('it was used')
      for (const size of [999, 1_001]) {
        await assert.rejects(store.read('odd', size), BlobDamaged)
        await assert.rejects(store.withLocalFile('odd', use, undefined, size), BlobDamaged)
      }
      await assert.rejects(store.stream('odd', 0, 1_000), BlobDamaged)
      await assert.rejects(store.stream('odd', 1_000, 1_999), BlobDamaged)
    })

    test('a blob in quarantine is found and listed no more, and its key is free', async () => {
      await put('ill', bytes)
      await store.quarantine('ill')
      await store.quarantine('ill')
      assert.equal(await store.openWhole('ill'), undefined)
      assert.ok((await keys()).every((key) => !key.includes('ill')))
      await put('ill', bytes.subarray(1))
      assert.deepEqual(await store.read('ill', bytes.length - 1), bytes.subarray(1))
    })

    test('the first claim owns the store, also among concurrent ones, and is not a blob', async () => {
      const before = await keys()
      assert.equal(await store.owner(), undefined)
      const owners = await Promise.all(['uno', 'dos', 'tres'].map((id) => store.owner(id)))
      assert.ok(['uno', 'dos', 'tres'].includes(owners[0] ?? ''))
      assert.deepEqual([...new Set(owners)], [owners[0]])
      const reopened = await open(join(folder, 'store'), staging)
      assert.equal(await reopened.owner('cuatro'), owners[0])
      assert.deepEqual(await keys(), before)
      await reopened.clearOwner()
      assert.equal(await store.owner(), undefined)
      assert.equal(await store.owner('cinco'), 'cinco')
    })

    test('a removed blob is gone, and others are not', async () => {
      await put('twin.a', bytes)
      await put('twin.b', bytes)
      await store.remove('twin.a')
      assert.equal(await store.read('twin.a', bytes.length), undefined)
      assert.equal(await store.stream('twin.a', 0, 1), undefined)
      assert.deepEqual(await store.read('twin.b', bytes.length), bytes)
      assert.ok(!(await keys()).includes('twin.a'))
    })

    test('an open stream continues to its end after the blob is removed', async () => {
      await put('reading', bytes)
      const stream = await store.stream('reading', 0, bytes.length - 1)
      await store.remove('reading')
      assert.deepEqual(await collect(stream), bytes)
    })

    test('an error in the use of a local copy is passed on', async () => {
      await put('failing', bytes)
      const fault = new Error('of the user')
      await assert.rejects(
        store.withLocalFile('failing', () => Promise.reject(fault)),
        fault,
      )
      assert.deepEqual(await store.read('failing', bytes.length), bytes)
    })

    test('concurrent users share a local copy, which is removed afterwards', async () => {
      await put('borrowed', bytes)
      const contents = await Promise.all(
        Array.from({ length: 20 }, () => store.withLocalFile('borrowed', (path) => readFile(path))),
      )
      for (const content of contents) assert.deepEqual(content, bytes)
      assert.deepEqual(await readdir(join(folder, 'staging')), [])
    })

    test('several megabytes come back whole, and streams that are left half-way harm nobody', async () => {
      const large = randomBytes(9_000_000)
      await put('large', large)
      for (let round = 0; round < 10; round++) {
        const stream = await store.stream('large', 0, large.length - 1)
        assert.ok(stream !== undefined)
        for await (const _ of stream) break
        assert.ok(stream.destroyed)
      }
      assert.ok((await collect(await store.stream('large', 0, large.length - 1)))?.equals(large))
      assert.ok((await store.read('large', large.length))?.equals(large))
      assert.ok((await store.withLocalFile('large', (path) => readFile(path)))?.equals(large))
    })

    test('all keys are listed once, with the time they were written', async () => {
      const since = Date.now()
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => put(`${index}.listed`, bytes.subarray(index))),
      )
      const until = Date.now()
      const listed: string[] = []
      for await (const { key, writtenAt } of store.keys()) {
        if (!key.endsWith('.listed')) continue
        listed.push(key)
        // Stores keep whole seconds, and clocks of file systems lag a little.
        assert.ok(writtenAt >= since - 2_000 && writtenAt <= until + 2_000)
      }
      assert.deepEqual(
        listed.toSorted(),
        Array.from({ length: 40 }, (_, index) => `${index}.listed`).toSorted(),
      )
    })

    test('a discarded staged file is not a blob, and a stored one leaves nothing staged', async () => {
      const before = await keys()
      const staged = await staging.write(bytes)
      await staged[Symbol.asyncDispose]()
      assert.deepEqual(await keys(), before)
      await assert.rejects(readFile(staged.path))
    })

    test('blobs are there when the store is opened again', async () => {
      await put('lasting', bytes)
      const reopened = await open(join(folder, 'store'), staging)
      assert.deepEqual(await reopened.read('lasting', bytes.length), bytes)
    })

    test('ping succeeds', () => store.ping())
  })
}
