import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { suite, test } from 'node:test'
import type { BlobStore } from '../blob-store.ts'
import { WrongLength } from './faults.ts'
import { resuming } from './resumed.ts'

const BYTES = Buffer.from('0123456789')

/** A store of one blob, whose streams break after so many bytes each; at the end of the list they do not. */
function breaking(breaks: readonly number[], fault: Error = new WrongLength('cut')) {
  const asked: string[] = []
  const bodies: Readable[] = []
  const stream = async (_key: string, start: number, end: number) => {
    const passed = breaks[asked.length]
    asked.push(`${start}-${end}`)
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
    lend: unused,
    remove: unused,
    ping: unused,
    whole: unused,
    quarantine: unused,
    owner: unused,
    disown: unused,
    async *keys() {},
  }
  return { store: resuming(store), asked, bodies }
}

const all = async (body: Readable | undefined) => String(Buffer.concat((await body?.toArray()) ?? []))

suite('a stream that breaks off', () => {
  test('goes on where it broke', async () => {
    const { store, asked } = breaking([3, 0, 4])
    assert.equal(await all(await store.stream('a', 1, 9)), '123456789')
    assert.deepEqual(asked, ['1-9', '4-9', '4-9', '8-9'])
  })

  test('is given up at the ninth break, and never passed off as whole', async () => {
    const { store, asked } = breaking(Array.from({ length: 20 }, () => 1))
    await assert.rejects(all(await store.stream('a', 0, 9)), WrongLength)
    assert.equal(asked.length, 9)
  })

  test('is whole when it breaks after its last byte', async () => {
    const { store, asked } = breaking([10])
    assert.equal(await all(await store.stream('a', 0, 9)), '0123456789')
    assert.equal(asked.length, 1)
  })

  test('is not taken up again after a fault that is for good', async () => {
    const { store, asked } = breaking([2], new Error('forbidden'))
    await assert.rejects(all(await store.stream('a', 0, 9)), /forbidden/)
    assert.equal(asked.length, 1)
  })

  test('is closed when its reader goes away', async () => {
    const { store, bodies } = breaking([])
    const body = await store.stream('a', 0, 9)
    body?.destroy()
    const [inner] = bodies
    assert.ok(inner !== undefined)
    if (!inner.closed) await once(inner, 'close')
  })
})
