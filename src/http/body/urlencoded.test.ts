import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BodyField, parseBody } from './parse.ts'

async function fields(
  body: string | Buffer,
  base64: string[] = [],
): Promise<[string, BodyField][] | undefined> {
  const parsed = await parseBody('application/x-www-form-urlencoded', Buffer.from(body), base64)
  return parsed && [...parsed]
}

const text = (name: string, value: string): [string, BodyField] => [name, { kind: 'text', value }]

test('parses pairs like WHATWG', async () => {
  assert.deepEqual(await fields(''), [])
  assert.deepEqual(await fields('a=1&&b=&c&=d&'), [
    text('a', '1'),
    text('b', ''),
    text('c', ''),
    text('', 'd'),
  ])
  assert.deepEqual(await fields('a=1=2&a=3'), [text('a', '3')], 'the last one counts')
  assert.deepEqual(await fields('n+m=a+b%2Bc%20d'), [text('n m', 'a b+c d')])
  assert.deepEqual(await fields('a=100%&b=%zz&c=%4&d=%C3%B1&e=ñ%&f=+%2B%C3%B1%'), [
    text('a', '100%'),
    text('b', '%zz'),
    text('c', '%4'),
    text('d', 'ñ'),
    text('e', 'ñ%'),
    text('f', ' +ñ%'),
  ])
})

test('equals URLSearchParams on any ASCII text that decodes to UTF-8', async () => {
  const soup = fc.string({ unit: fc.constantFrom(...'ab&=%+253C0f;'), maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(soup, async (body) => {
      const ours = await fields(body)
      if (ours === undefined) return
      assert.deepEqual(
        new Map(ours),
        new Map([...new URLSearchParams(`&${body}`)].map(([name, value]) => text(name, value))),
      )
    }),
    { numRuns: 2000 },
  )
})

test('invalid UTF-8 is unparsable', async () => {
  for (const body of ['a=%F1', 'a=%C3', '%ff=1', Buffer.from('a=ñ', 'latin1')])
    assert.equal(await fields(body), undefined)
})

test('accepts at most 256 pairs', async () => {
  assert.equal((await fields('a=1&'.repeat(256)))?.length, 1)
  assert.equal(await fields('a=1&'.repeat(257)), undefined)
})

test('an unescaped plus sign in base64 is a plus sign', async () => {
  const bytes = Buffer.from('fb ef be fb ff bf ef'.replaceAll(' ', ''), 'hex')
  const base64 = bytes.toString('base64')
  assert.equal(base64, '++++' + '+/+/' + '7w==')
  const expected = [['image', { kind: 'bytes', bytes }]]
  assert.deepEqual(await fields(`image=${base64}`, ['image']), expected, 'nothing escaped')
  assert.deepEqual(await fields(`image=${encodeURIComponent(base64)}`, ['image']), expected, 'all escaped')
  assert.deepEqual(
    await fields(`image=${base64.replaceAll('=', '%3D')}`, ['image']),
    expected,
    'as escape() does',
  )
})

test('an unescaped plus sign is a space if others are escaped or base64 would be invalid', async () => {
  const expected = [['image', { kind: 'bytes', bytes: Buffer.from('ABC>>>D') }]]
  assert.equal(Buffer.from('ABC>>>D').toString('base64'), 'QUJDPj4+RA==')
  assert.deepEqual(await fields('image=+QUJDPj4%2BRA%3D%3D+', ['image']), expected)
  assert.deepEqual(await fields('image=QUJD+Pj4%2BRA%3D%3D', ['image']), expected)
  assert.deepEqual(await fields('image=++++QUJDPj4%2bRA', ['image']), expected)
  assert.deepEqual(await fields('image=++QUJDRA%3D%3D', ['image']), [
    ['image', { kind: 'bytes', bytes: Buffer.from('ABCD') }],
  ])
  assert.deepEqual(await fields('image=Q!+', ['image']), [['image', { kind: 'not-base64' }]])
})
