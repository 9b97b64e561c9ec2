/** How faults of an object store are handled: by a retry, or with a clear error in time. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { BlobDamaged, type BlobStore } from '../../src/storage/blobs/blob-store.ts'
import { StoreUnavailable } from '../../src/storage/blobs/s3/client.ts'
import { parseS3Location } from '../../src/storage/blobs/s3/location.ts'
import { S3_DEFAULTS, type S3Options } from '../../src/storage/blobs/s3/requests.ts'
import { openS3Blobs } from '../../src/storage/blobs/s3/store.ts'
import { Staging } from '../../src/storage/blobs/staging.ts'
import { eventually } from '../support/eventually.ts'
import { ScriptedGateway, type Trouble } from './scripted-gateway.ts'

/** Long enough for a healthy answer on a machine that has other things to do. */
const SILENCE_MS = 2_000
/** All attempts, their silences and the pauses in between, on such a machine. */
const IN_TIME_MS = 60_000
const SIZE = 500_000

interface Bench {
  readonly gateway: ScriptedGateway
  readonly blobs: BlobStore
  readonly staging: Staging
  readonly folder: string
  readonly faults: string[]
  [Symbol.asyncDispose](): Promise<void>
}

async function openBench(options: Partial<S3Options> = {}): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'catalejo-s3-'))
  const staging = await Staging.open(folder, { flush: false })
  const gateway = await ScriptedGateway.start()
  const { endpoint } = gateway
  const location = parseS3Location(`s3://bucket/images?endpoint=${endpoint}`)
  assert.ok(location !== undefined)
  const faults: string[] = []
  const { store, close } = openS3Blobs(location, staging, (operation) => faults.push(operation), {
    ...S3_DEFAULTS,
    maxAttempts: 3,
    silenceMs: SILENCE_MS,
    totalMs: 30_000,
    ...options,
  })
  return {
    gateway,
    blobs: store,
    staging,
    folder,
    faults,
    async [Symbol.asyncDispose]() {
      close()
      await gateway[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function put({ blobs, staging }: Bench, key: string, bytes: Uint8Array): Promise<void> {
  await using staged = await staging.write(bytes)
  await blobs.put(key, staged)
}

async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const start = performance.now()
  const result = await work()
  const took = performance.now() - start
  assert.ok(took < IN_TIME_MS, `took ${took} ms`)
  return result
}

const PASSING: readonly (readonly [string, Trouble])[] = [
  ['503 in XML', { kind: 'status', status: 503, code: 'SlowDown' }],
  ['503 in plain text', { kind: 'status', status: 503 }],
  ['silence', { kind: 'hang' }],
  ['a broken connection', { kind: 'break', done: false }],
]

const IN_BODY: readonly (readonly [string, Trouble])[] = [
  ['silence before the first byte', { kind: 'hang-in-body', bytes: 0 }],
  ['a cut before the first byte', { kind: 'cut', bytes: 0 }],
]

const AFTER_FIRST_BYTE: readonly (readonly [string, Trouble])[] = [
  ['silence in the body', { kind: 'hang-in-body', bytes: 100_000 }],
  ['a cut in the body', { kind: 'cut', bytes: 100_000 }],
]

// Most of it is waiting.
suite('a failing object store', { timeout: 600_000, concurrency: 8 }, () => {
  before(async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'id'
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
    // The client loads parts of itself at its first request, which may take longer than a silence.
    const options = { maxAttempts: 1, silenceMs: IN_TIME_MS, totalMs: IN_TIME_MS }
    await using bench = await openBench(options)
    await put(bench, 'a', randomBytes(SIZE))
    await bench.blobs.read('a', SIZE)
  })
  const bytes = randomBytes(SIZE)

  const whole = {
    read: (bench: Bench) => bench.blobs.read('a', SIZE),
    copy: (bench: Bench) => bench.blobs.withLocalFile('a', (path) => readFile(path)),
  }
  const stream = async (bench: Bench) => {
    const body = await bench.blobs.stream('a', 0, SIZE - 1)
    return body === undefined ? undefined : Buffer.concat(await body.toArray())
  }
  const reads = { ...whole, stream }

  for (const [name, read] of Object.entries(reads)) {
    for (const [trouble, scripted] of PASSING) {
      test(`${name}: ${trouble} is retried successfully`, async () => {
        await using bench = await openBench()
        await put(bench, 'a', bytes)
        bench.gateway.script = [scripted]
        assert.ok((await inTime(() => read(bench)))?.equals(bytes))
        assert.deepEqual(bench.faults, [])
      })

      // All reads are repeated in one way.
      if (name !== 'read') continue
      test(`${name}: ${trouble} permanently is reported as an overload, in time`, async () => {
        await using bench = await openBench()
        await put(bench, 'a', bytes)
        bench.gateway.requests.length = 0
        bench.gateway.always = scripted
        await inTime(() => assert.rejects(read(bench), StoreUnavailable))
        assert.equal(bench.gateway.requests.length, 3)
        assert.deepEqual(bench.faults, [name])
        assert.deepEqual(await readdir(bench.folder), [])
        // And it recovers automatically.
        bench.gateway.always = undefined
        assert.ok((await read(bench))?.equals(bytes))
      })
    }
  }

  for (const [name, read] of Object.entries(whole)) {
    for (const [trouble, scripted] of [...IN_BODY, ...AFTER_FIRST_BYTE]) {
      test(`${name}: ${trouble} is an overload, and nothing is left of it`, async () => {
        await using bench = await openBench()
        await put(bench, 'a', bytes)
        bench.gateway.script = [scripted]
        await inTime(() => assert.rejects(read(bench), StoreUnavailable))
        assert.deepEqual(bench.faults, [name])
        assert.deepEqual(await readdir(bench.folder), [])
        assert.ok((await read(bench))?.equals(bytes))
      })
    }

    test(`${name}: bytes corrupted in transit are rejected`, async () => {
      await using bench = await openBench()
      await put(bench, 'a', bytes)
      bench.gateway.script = [{ kind: 'rot' }]
      await assert.rejects(read(bench), BlobDamaged)
      assert.ok((await read(bench))?.equals(bytes))
    })
  }

  for (const [trouble, scripted] of IN_BODY) {
    test(`stream: ${trouble} is an overload, because the client has no answer yet`, async () => {
      await using bench = await openBench({ totalMs: 2 * SILENCE_MS })
      await put(bench, 'a', bytes)
      bench.gateway.script = [scripted]
      await inTime(() => assert.rejects(stream(bench), StoreUnavailable))
      assert.deepEqual(bench.faults, ['stream'])
      await eventually(() => bench.gateway.openResponses === 0, 'the request to the store ended')
    })
  }

  for (const [trouble, scripted] of AFTER_FIRST_BYTE) {
    test(`stream: ${trouble} ends it with an error, never as if it were complete`, async () => {
      await using bench = await openBench({ stallMs: 2 * SILENCE_MS })
      await put(bench, 'a', bytes)
      bench.gateway.script = [scripted]
      await inTime(() => assert.rejects(stream(bench)))
      assert.deepEqual(bench.faults, ['stream'])
    })
  }

  for (const [trouble, scripted] of PASSING) {
    test(`put and remove: ${trouble} is retried successfully`, async () => {
      await using bench = await openBench()
      for (const content of [bytes, randomBytes(3_000_000)]) {
        bench.gateway.script = [scripted, scripted]
        const key = `k${content.byteLength}`
        await inTime(() => put(bench, key, content))
        assert.ok(bench.gateway.objects.get(`/bucket/images/${key}`)?.bytes.equals(content))
        bench.gateway.script = [scripted]
        await inTime(() => bench.blobs.remove(key))
        assert.equal(bench.gateway.objects.size, 0)
      }
    })

    test(`put: ${trouble} permanently is reported as an overload, in time`, async () => {
      await using bench = await openBench()
      bench.gateway.always = scripted
      await inTime(() => assert.rejects(put(bench, 'a', bytes), StoreUnavailable))
      await inTime(() => assert.rejects(put(bench, 'b', randomBytes(3_000_000)), StoreUnavailable))
      assert.equal(bench.gateway.objects.size, 0)
    })
  }

  test('put: a request that arrived but whose response was lost succeeds', async () => {
    await using bench = await openBench()
    bench.gateway.script = [{ kind: 'break', done: true }]
    await put(bench, 'a', bytes)
    assert.deepEqual(bench.gateway.requests, [
      'PUT /bucket/images/a',
      'PUT /bucket/images/a',
      'HEAD /bucket/images/a',
    ])
  })

  test('put: an existing key is an error, and its content stays', async () => {
    await using bench = await openBench()
    await put(bench, 'a', bytes)
    // Also where an attempt failed before: the object belongs to another upload.
    bench.gateway.script = [{ kind: 'status', status: 503 }]
    await assert.rejects(put(bench, 'a', randomBytes(SIZE)), /the key a is taken/)
    assert.ok(bench.gateway.objects.get('/bucket/images/a')?.bytes.equals(bytes))
  })

  for (const code of ['AccessDenied', 'SignatureDoesNotMatch', 'NoSuchBucket']) {
    test(`${code} is an immediate error, neither a missing blob nor an overload`, async () => {
      await using bench = await openBench()
      bench.gateway.always = { kind: 'status', status: code === 'NoSuchBucket' ? 404 : 403, code }
      for (const read of Object.values(reads)) {
        const refused = (error: Error) => error.message.includes(code) && !(error instanceof StoreUnavailable)
        await assert.rejects(read(bench), refused)
      }
      assert.equal(bench.gateway.requests.length, 3)
    })
  }

  test('a blob of another size than promised is damaged', async () => {
    await using bench = await openBench()
    await put(bench, 'a', bytes)
    await assert.rejects(bench.blobs.read('a', SIZE - 1), BlobDamaged)
    bench.gateway.objects.set('/bucket/images/a', { bytes: bytes.subarray(1), sha256: '' })
    await assert.rejects(bench.blobs.read('a', SIZE), BlobDamaged)
  })

  test('the queue respects its limits on wait and length', async () => {
    await using bench = await openBench({ requests: 2, waiting: 3, waitMs: 100 })
    bench.gateway.always = { kind: 'hang' }
    const outcomes = await inTime(() =>
      Promise.allSettled(Array.from({ length: 10 }, (_, index) => bench.blobs.read(`k${index}`, 10))),
    )
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    // Two at a time and three attempts each: the others never reached the store.
    assert.ok(bench.gateway.requests.length <= 6)
  })

  test('an answer without a length is an overload, and its connection ends', async () => {
    await using bench = await openBench({ silenceMs: IN_TIME_MS })
    await put(bench, 'a', bytes)
    for (const read of Object.values(reads)) {
      bench.gateway.script = [{ kind: 'no-length' }]
      await assert.rejects(read(bench), StoreUnavailable)
      await eventually(() => bench.gateway.openResponses === 0, 'the request to the store ended')
    }
  })

  test('a reader that disconnects or stalls ends the request', async () => {
    await using bench = await openBench({ streams: 1, stallMs: 2 * SILENCE_MS })
    const large = randomBytes(20_000_000)
    await put(bench, 'large', large)
    const gone = await bench.blobs.stream('large', 0, large.length - 1)
    assert.equal(bench.gateway.openResponses, 1)
    gone?.destroy()
    const stopped = await bench.blobs.stream('large', 0, large.length - 1)
    assert.ok(stopped !== undefined)
    const failed = new Promise((resolve) => stopped.once('error', resolve))
    await inTime(() => failed)
    await eventually(() => bench.gateway.openResponses === 0, 'the request to the store ended')
    // Its place is free again.
    const body = await bench.blobs.stream('large', 0, 9)
    assert.ok(Buffer.concat((await body?.toArray()) ?? []).equals(large.subarray(0, 10)))
  })

  test('a stream may be read for longer than it may take to open', async () => {
    await using bench = await openBench({ stallMs: 60_000, totalMs: 2 * SILENCE_MS })
    const large = randomBytes(20_000_000)
    await put(bench, 'large', large)
    const body = await bench.blobs.stream('large', 0, large.length - 1)
    assert.ok(body !== undefined)
    await pause(3 * SILENCE_MS)
    assert.ok(Buffer.concat(await body.toArray()).equals(large))
  })

  test('ping rejects if the store is unusable', async () => {
    await using bench = await openBench({ pingMs: SILENCE_MS })
    for (const trouble of [{ kind: 'hang' }, { kind: 'status', status: 403 }] as const) {
      bench.gateway.always = trouble
      await inTime(() => assert.rejects(bench.blobs.ping()))
    }
  })
})
