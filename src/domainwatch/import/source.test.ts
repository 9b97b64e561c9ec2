import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { constants, gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { bytesOf, TooLargeFault } from './source.ts'

/** Hardly compressible, and larger than the buffer of a stream. */
const TEXT = Array.from({ length: 20_000 }, (_, i) => `n${(i * 7_919_317) % 30_000_000}.cl\n`).join('')

test('a truncated file yields all data before the cut, however slowly it is read', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'lista.gz')
  async function taken(packed: Buffer): Promise<{ text: string; fault: string | undefined }> {
    await writeFile(path, packed)
    let text = ''
    try {
      for await (const piece of bytesOf(path, () => {})) {
        text += String(piece)
        for (let i = 0; i < 5; i++) await setImmediate()
      }
      return { text, fault: undefined }
    } catch (error) {
      return { text, fault: error instanceof Error ? error.message : '' }
    }
  }
  const packed = gzipSync(TEXT)
  const fault = 'unexpected end of file'
  for (const length of [packed.length / 3, packed.length / 2, packed.length - 9]) {
    const cut = packed.subarray(0, length)
    const before = String(gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }))
    assert.deepEqual(await taken(cut), { text: before, fault })
  }
  assert.deepEqual(await taken(packed), { text: TEXT, fault: undefined })
  assert.deepEqual(await taken(Buffer.concat([packed, packed])), { text: TEXT + TEXT, fault: undefined })
  // Padding, as tapes and disks add it.
  assert.deepEqual(await taken(Buffer.concat([packed, Buffer.alloc(9_000)])), {
    text: TEXT,
    fault: undefined,
  })
  const frame = zstdCompressSync(TEXT)
  assert.deepEqual(await taken(frame), { text: TEXT, fault: undefined })
  const cutFrame = await taken(frame.subarray(0, frame.length / 2))
  assert.ok(cutFrame.fault !== undefined && TEXT.startsWith(cutFrame.text), cutFrame.fault)
  const twoCut = Buffer.concat([packed, packed.subarray(0, 9)])
  assert.deepEqual(await taken(twoCut), { text: TEXT, fault })
  const damaged = Buffer.concat([packed.subarray(0, packed.length / 2), Buffer.from('no'.repeat(40_000))])
  assert.ok(TEXT.startsWith((await taken(damaged)).text.slice(0, TEXT.length / 3)))
})

test('what decompresses to too much is not read on, in whichever layer, and also if it contains nothing', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'lista.gz')
  const maxBytes = 1024 * 1024
  const readAll = async (content: Buffer) => {
    await writeFile(path, content)
    let bytes = 0
    for await (const piece of bytesOf(path, () => {}, { layers: 2, maxBytes })) bytes += piece.length
    return bytes
  }
  const text = Buffer.alloc(maxBytes, 'casa.cl\n')
  assert.equal(await readAll(gzipSync(gzipSync(text))), maxBytes)
  assert.equal(await readAll(zstdCompressSync(text)), maxBytes)
  await assert.rejects(readAll(zstdCompressSync(Buffer.alloc(8 * maxBytes))), TooLargeFault)
  const more = Buffer.concat([text, Buffer.from('\n')])
  for (const content of [more, gzipSync(more), gzipSync(gzipSync(more))])
    await assert.rejects(readAll(content), TooLargeFault)
  // A stream of empty stored blocks (RFC 1951, section 3.2.4) after the head of a gzip file.
  const nothing = Buffer.concat([
    gzipSync('').subarray(0, 10),
    Buffer.alloc(5 * maxBytes, '\0\0\0\xff\xff', 'latin1'),
  ])
  await assert.rejects(readAll(gzipSync(nothing)), TooLargeFault)
  // The same with what follows a complete file.
  await assert.rejects(
    readAll(gzipSync(Buffer.concat([gzipSync('casa.cl\n'), Buffer.alloc(2 * maxBytes)]))),
    TooLargeFault,
  )
})
