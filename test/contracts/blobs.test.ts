/** What every blob store promises, run on each of them. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import type { BlobStore } from '../../src/blobs/blob-store.ts'
import { openFileBlobs } from '../../src/blobs/files.ts'
import { openS3Blobs } from '../../src/blobs/s3/store.ts'
import { Staging } from '../../src/blobs/staging.ts'
import { freshLocation, noS3 } from '../support/s3.ts'

interface Subject {
  readonly blobs: BlobStore
  readonly staging: Staging
  readonly stagingFolder: string
  [Symbol.asyncDispose](): Promise<void>
}

async function openSubject(
  open: (folder: string, staging: Staging) => Promise<{ store: BlobStore; close: () => void }>,
): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-blobs-'))
  const stagingFolder = join(folder, 'staging')
  const staging = await Staging.open(stagingFolder)
  const { store, close } = await open(folder, staging)
  return {
    blobs: store,
    staging,
    stagingFolder,
    async [Symbol.asyncDispose]() {
      close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const STORES = [
  {
    name: 'files',
    skip: false,
    open: () =>
      openSubject(async (folder) => ({ store: await openFileBlobs(join(folder, 'blobs')), close: () => {} })),
  },
  {
    name: 'S3',
    skip: noS3,
    open: () => openSubject(async (_folder, staging) => openS3Blobs(freshLocation(), staging, () => {})),
  },
]

/** A key as the service makes them. */
const newKey = () => `${randomBytes(16).toString('hex')}.${randomBytes(6).toString('hex')}`

async function stored({ blobs, staging }: Subject, bytes: Uint8Array): Promise<string> {
  const key = newKey()
  const staged = await staging.write(bytes)
  await blobs.put(key, staged)
  await staged.discard()
  return key
}

async function streamed(
  { blobs }: Subject,
  key: string,
  start: number,
  end: number,
): Promise<Buffer | undefined> {
  const stream = await blobs.stream(key, start, end)
  return stream === undefined ? undefined : Buffer.concat(await stream.toArray())
}

async function keysOf({ blobs }: Subject): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of blobs.keys()) keys.push(key)
  return keys.sort()
}

for (const { name, skip, open } of STORES) {
  suite(`blobs on ${name}`, { skip, timeout: 120_000 }, () => {
    // From one byte to what goes from memory, from a file and in many chunks.
    for (const size of [1, 300_000, 1024 * 1024, 1024 * 1024 + 1, 9_000_000]) {
      test(`${size} bytes come back as they were, whole, streamed and lent`, async () => {
        await using subject = await open()
        const bytes = randomBytes(size)
        const key = await stored(subject, bytes)
        assert.ok((await subject.blobs.read(key, size))?.equals(bytes))
        assert.ok((await streamed(subject, key, 0, size - 1))?.equals(bytes))
        const lent = await subject.blobs.lend(key, (path) => readFile(path))
        assert.ok(lent?.equals(bytes))
      })
    }

    test('any part can be streamed', async () => {
      await using subject = await open()
      const bytes = randomBytes(700_000)
      const key = await stored(subject, bytes)
      for (const [start, end] of [
        [0, 0],
        [699_999, 699_999],
        [1, 65_536],
        [300_000, 699_999],
      ] as const) {
        assert.ok((await streamed(subject, key, start, end))?.equals(bytes.subarray(start, end + 1)))
      }
    })

    test('what is not there is undefined, and removing it no fault', async () => {
      await using subject = await open()
      const key = newKey()
      assert.equal(await subject.blobs.read(key, 10), undefined)
      assert.equal(await subject.blobs.stream(key, 0, 9), undefined)
      const used = () => Promise.reject(new Error('lent what is not there'))
      assert.equal(await subject.blobs.lend(key, used), undefined)
      await subject.blobs.remove(key)
    })

    test('a removed blob is gone', async () => {
      await using subject = await open()
      const bytes = randomBytes(1_000)
      const [kept, removed] = [await stored(subject, bytes), await stored(subject, bytes)]
      await subject.blobs.remove(removed)
      assert.equal(await subject.blobs.read(removed, 1_000), undefined)
      assert.ok((await subject.blobs.read(kept, 1_000))?.equals(bytes))
      assert.deepEqual(await keysOf(subject), [kept])
    })

    test('all keys are listed, with the time of their writing', async () => {
      await using subject = await open()
      assert.deepEqual(await keysOf(subject), [])
      const before = Date.now()
      const keys = await Promise.all(
        Array.from({ length: 12 }, (_, index) => stored(subject, Buffer.from(`blob ${index}`))),
      )
      assert.deepEqual(await keysOf(subject), keys.sort())
      for await (const { writtenAt } of subject.blobs.keys()) {
        // A store's clock may be cut to seconds.
        assert.ok(writtenAt > before - 2_000 && writtenAt < Date.now() + 2_000)
      }
    })

    test('a file is lent for as long as it is used, to many at once, and leaves nothing behind', async () => {
      await using subject = await open()
      const bytes = randomBytes(400_000)
      const key = await stored(subject, bytes)
      const lent = await Promise.all(
        Array.from({ length: 20 }, () => subject.blobs.lend(key, (path) => readFile(path))),
      )
      assert.ok(lent.every((content) => content?.equals(bytes) === true))
      const failing = subject.blobs.lend(key, () => Promise.reject(new Error('of its user')))
      await assert.rejects(failing, /of its user/)
      assert.deepEqual(await readdir(subject.stagingFolder), [])
    })

    test('a stream that is left half-way harms nobody', async () => {
      await using subject = await open()
      const bytes = randomBytes(5_000_000)
      const key = await stored(subject, bytes)
      for (let round = 0; round < 10; round++) {
        const stream = await subject.blobs.stream(key, 0, bytes.length - 1)
        assert.ok(stream !== undefined)
        for await (const _ of stream) break
        assert.ok(stream.destroyed)
      }
      assert.ok((await streamed(subject, key, 0, bytes.length - 1))?.equals(bytes))
    })

    test('it answers when it is asked whether it can be used', async () => {
      await using subject = await open()
      await subject.blobs.ping()
    })
  })
}
