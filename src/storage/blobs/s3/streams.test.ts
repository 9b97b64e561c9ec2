import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import { SERVICE, type Caller } from '../../../lib/client.ts'
import type { BlobStore } from '../blob-store.ts'
import { withResumedStreams } from './streams.ts'

const BYTES = Buffer.from('0123456789')
const RESET = Object.assign(new Error('aborted'), { code: 'ECONNRESET' })

/** A store of one blob. Each stream breaks after the next number of bytes in `breaks`; those after the last do not break. */
function breaking(breaks: readonly number[], fault: Error = RESET) {
  const asked: string[] = []
  const callers: (Caller | undefined)[] = []
  const bodies: Readable[] = []
  const stream = async (_key: string, start: number, end: number, caller?: Caller) => {
    const passed = breaks[asked.length]
    asked.push(`${start}-${end}`)
    callers.push(caller)
    async function* bytes() {
      const part = BYTES.subarray(start, end + 1)
      if (passed !== 0) yield part.subarray(0, passed)
      if (passed !== undefined) throw fault
    }
    const body = Readable.from(bytes(), { objectMode: false })
    bodies.push(body)
    return body
  }
  const unused = () => Promise.reject(new Error('not asked for here'))
  const store: BlobStore = {
    stream,
    put: unused,
    read: unused,
    withLocalFile: unused,
    remove: unused,
    ping: unused,
    openWhole: unused,
    quarantine: unused,
    owner: unused,
    clearOwner: unused,
    async *keys() {},
  }
  return { store: withResumedStreams(store), asked, callers, bodies }
}

const all = async (body: Readable | undefined) => String(Buffer.concat((await body?.toArray()) ?? []))

suite('a stream that breaks', () => {
  test('resumes where it broke, for the same caller', async () => {
    const { store, asked, callers } = breaking([3, 0, 4])
    assert.equal(await all(await store.stream('a', 1, 9, SERVICE)), '123456789')
    assert.deepEqual(callers, Array(4).fill(SERVICE))
    assert.deepEqual(asked, ['1-9', '4-9', '4-9', '8-9'])
  })

  test('fails at the ninth break', async () => {
    const { store, asked } = breaking(Array.from({ length: 20 }, () => 1))
    await assert.rejects(all(await store.stream('a', 0, 9)), { code: 'ECONNRESET' })
    assert.equal(asked.length, 9)
  })

  test('is whole when it breaks after its last byte', async () => {
    const { store, asked } = breaking([10])
    assert.equal(await all(await store.stream('a', 0, 9)), '0123456789')
    assert.equal(asked.length, 1)
  })

  test('is not resumed after a permanent error', async () => {
    const { store, asked } = breaking([2], new Error('forbidden'))
    await assert.rejects(all(await store.stream('a', 0, 9)), /forbidden/)
    assert.equal(asked.length, 1)
  })

  test('closes the body when its reader goes away', async () => {
    const { store, bodies } = breaking([])
    const body = await store.stream('a', 0, 9)
    body?.destroy()
    const [inner] = bodies
    assert.ok(inner !== undefined)
    if (!inner.closed) await once(inner, 'close')
  })
})
