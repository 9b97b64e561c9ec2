import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { constants, gunzipSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { bytesOf, TooLargeFault, joinLines, type Completeness, readLines, type Line } from './source.ts'
import assert from 'node:assert/strict'
import fc from 'fast-check'

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

/** Yields `bytes` in chunks of these sizes, repeated. */
async function* pieces(bytes: Buffer, sizes: readonly number[]) {
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all = []
  for await (const item of items) all.push(item)
  return all
}

const all = (bytes: Buffer, sizes = [7]) => collected(readLines(pieces(bytes, sizes)))

test('lines are the same however the bytes are split', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll(/[\r\n\uFEFF]/g, ''))
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.constantFrom('\n', '\r\n'),
      async (lines, sizes, end) => {
        const text = lines.map((each) => each.toWellFormed() + end).join('')
        assert.deepEqual(
          await all(Buffer.from(text), sizes),
          lines.map((each, i) => ({ number: i + 1, text: each.toWellFormed() + end.slice(0, -1) })),
        )
      },
    ),
  )
})

test('drops a byte order mark, reads Windows-1252, and marks a last line without a line end', async () => {
  const bytes = Buffer.concat([Buffer.from('\uFEFFuno\n'), Buffer.from('ñandú \x80\ndos', 'latin1')])
  assert.deepEqual(await all(bytes), [
    { number: 1, text: 'uno' },
    { number: 2, text: 'ñandú €' },
    { number: 3, text: 'dos', isCut: true },
  ])
  assert.deepEqual(await all(Buffer.from('uno')), [{ number: 1, text: 'uno' }])
})

test('a line that is too long has no text, and reading continues', async () => {
  for (const end of ['\ndos', '']) {
    const lines = await all(Buffer.from(`${'x'.repeat(70_000)}${end}`), [1_000])
    assert.deepEqual(lines[0], { number: 1, text: undefined })
    assert.deepEqual(lines.slice(1), end === '' ? [] : [{ number: 2, text: 'dos', isCut: true }])
  }
})

/** A record is complete when its parentheses are balanced. */
function parentheses(text: string): Completeness {
  let open = 0
  for (const each of text) {
    if (each === '(') open++
    if (each === ')' && --open < 0) return 'broken'
  }
  return open === 0 ? 'complete' : 'open'
}

async function joined(texts: readonly string[]): Promise<(string | undefined)[]> {
  const lines = async function* (): AsyncGenerator<Line> {
    for (const [i, text] of texts.entries()) yield { number: i + 1, text }
  }
  return (await collected(joinLines(lines(), parentheses))).map(({ text }) => text)
}

test('a record over several lines is joined; an unterminated one affects only its own line', async () => {
  assert.deepEqual(await joined(['a', '(b', 'c)', 'd']), ['a', '(b\nc)', 'd'])
  assert.deepEqual(await joined(['(a', 'b', '(c', 'd)']), ['(a', 'b', '(c\nd)'])
  assert.deepEqual(await joined(['(a', 'b))', 'c']), ['(a', 'b))', 'c'])
  assert.deepEqual(await joined(['a\r', '(b\r', 'c)\r', '(d\r', 'e']), ['a', '(b\r\nc)', '(d', 'e'])
  const many = Array.from({ length: 150 }, (_, i) => String(i))
  assert.deepEqual(await joined(['(a', ...many]), ['(a', ...many])
  const whole = ['(a', ...many.slice(0, 99), 'b)']
  assert.deepEqual(await joined(whole), [whole.join('\n')])
})
