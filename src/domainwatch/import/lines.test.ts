import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { joinLines, type Completeness } from './lines.ts'
import { readLines, type Line } from './lines.ts'

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
