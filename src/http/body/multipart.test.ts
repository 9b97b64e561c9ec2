import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type BodyField, parseBody } from './parse.ts'

const type = 'multipart/form-data; boundary=b'

async function fields(body: string | Buffer, contentType = type): Promise<[string, BodyField][] | undefined> {
  const parsed = await parseBody(contentType, Buffer.from(body), ['image'])
  return parsed && [...parsed]
}

const part = (headers: string, content: string) => `--b\r\n${headers}\r\n\r\n${content}\r\n`
const named = (parameters: string) => `Content-Disposition: form-data; ${parameters}`
const closing = '--b--\r\n'

test('parses files and texts as FormData sends them', async () => {
  const name = fc.string({ unit: fc.constantFrom(...'añ日"\\; =.\'*/'), minLength: 1, maxLength: 12 })
  const file = fc.tuple(
    fc.uint8Array({ maxLength: 100 }),
    name,
    fc.constantFrom('', 'image/png', 'text/plain'),
  )
  await fc.assert(
    fc.asyncProperty(file, name, async ([bytes, filename, mime], info) => {
      // A backslash before a quote, or before that at the end, is indistinguishable from an escape.
      fc.pre(!/\\["\\]|\\$/.test(filename))
      const form = new FormData()
      form.append('image', new File([bytes], filename, { type: mime }))
      form.append('info', info)
      const request = new Response(form)
      const body = Buffer.from(await request.arrayBuffer())
      assert.deepEqual(await fields(body, request.headers.get('content-type') ?? ''), [
        [
          'image',
          { kind: 'bytes', bytes: Buffer.from(bytes), filename, mime: mime || 'application/octet-stream' },
        ],
        ['info', { kind: 'text', value: info }],
      ])
    }),
  )
})

test('decides which parts are files', async () => {
  const bytes = Buffer.from('ABC')
  const body = (headers: string, content: string) => part(headers, content) + closing
  const cases: [string, string, BodyField][] = [
    [named('name=image'), 'QUJD', { kind: 'bytes', bytes }],
    [
      named('name=image; filename=a.png'),
      'ABC',
      { kind: 'bytes', bytes, mime: 'text/plain', filename: 'a.png' },
    ],
    [
      `${named('name="image"')}\r\ncontent-type: Image/PNG; x=y`,
      'ABC',
      { kind: 'bytes', bytes, mime: 'image/png' },
    ],
    [`${named('name="image"')}\r\nContent-Type: text/plain`, 'QUJD', { kind: 'bytes', bytes }],
    [`${named('name="image"')}\r\nContent-Type: text/plain`, 'ABC!', { kind: 'not-base64' }],
    [`${named('name="info"')}\r\nContent-Type: application/json`, '{}', { kind: 'text', value: '{}' }],
    [
      `${named('name="info"')}\r\nContent-Type: text/plain; charset=ISO-8859-1`,
      'ñ',
      { kind: 'text', value: 'ñ' },
    ],
    [
      `${named('name="image"; filename=""')}\r\nContent-Transfer-Encoding: BASE64\r\nContent-Type: image/gif`,
      'QU\r\nJD',
      { kind: 'bytes', bytes, filename: '', mime: 'image/gif' },
    ],
    [`${named('name="info"')}\r\nContent-Transfer-Encoding: base64`, 'QUJD', { kind: 'text', value: 'ABC' }],
  ]
  for (const [headers, content, field] of cases) {
    const [first] = (await fields(body(headers, content))) ?? []
    assert.deepEqual(first?.[1], field, headers)
  }
})

test('parses file names as clients write them', async () => {
  const cases = [
    ['filename="ñandú.png"', 'ñandú.png'],
    ["filename*=UTF-8''%C3%B1and%C3%BA.png", 'ñandú.png'],
    ['filename="a%22b%0D%0A%41.png"', 'a"b\r\n%41.png'],
    ['filename="a\\"b.png"', 'a"b.png'],
    ['filename="C:\\fotos\\a.png"', 'C:\\fotos\\a.png'],
    ['filename="a;b=c.png"', 'a;b=c.png'],
    ['filename = "a.png" ', 'a.png'],
  ]
  for (const [parameter, filename] of cases) {
    const [first] = (await fields(part(named(`name="f"; ${parameter}`), 'x') + closing)) ?? []
    const expected = { kind: 'bytes', bytes: Buffer.from('x'), mime: 'text/plain', filename }
    assert.deepEqual(first?.[1], expected, parameter)
  }
})

test('parses repeated fields, an empty form, a preamble and an epilogue', async () => {
  const a = (value: string) => part(named('name="a"'), value)
  assert.deepEqual(await fields(a('1') + a('2') + closing), [['a', { kind: 'text', value: '2' }]])
  assert.deepEqual(await fields(closing), [])
  assert.deepEqual(await fields(`preamble\r\n${a('1')}--b--epilogue\r\n--b\r\n`), [
    ['a', { kind: 'text', value: '1' }],
  ])
  assert.deepEqual(await fields(a('')+ closing), [['a', { kind: 'text', value: '' }]]) // prettier-ignore
})

test('a body truncated anywhere before its last delimiter is unparsable', async () => {
  const body = `${part(named('name="a"'), '1')}${part(named('name="image"; filename="x"'), 'abc\r\n--')}--b--`
  assert.equal((await fields(body))?.length, 2)
  for (let length = 0; length < body.length; length++)
    assert.equal(await fields(body.slice(0, length)), undefined)
})

test('malformed bodies are unparsable', async () => {
  const header = named('name="a"')
  const bodies = [
    '',
    part(named('filename="x"'), 'x') + closing,
    part(`${header}\r\nContent-Transfer-Encoding: quoted-printable`, 'x') + closing,
    part(header, 'x').replaceAll('\r\n', '\n') + closing,
    part(header, 'x').repeat(33) + closing,
    Buffer.from(part(header, 'ñ') + closing, 'latin1'),
    Buffer.from(part(named('name="ñ"'), 'x') + closing, 'latin1'),
  ]
  for (const body of bodies) assert.equal(await fields(body), undefined, body.toString().slice(0, 100))
  assert.notEqual(await fields(part(header, 'x').repeat(32) + closing), undefined)
})

test('parts without the header of a field are ignored', async () => {
  const parts = [
    part('Content-Type: text/plain', 'x'),
    part('Content-Disposition: attachment; name="a"', 'x'),
    `--b\r\n${named('name="a"')}\r\n`,
    '--b\r\n\r\n',
  ]
  for (const one of parts) assert.deepEqual(await fields(one + closing), [], one)
})

test('a body without a boundary in its type is unparsable', async () => {
  const body = part(named('name="a"'), 'x') + closing
  assert.equal((await fields(body, 'multipart/form-data; charset=utf-8; BOUNDARY="b"'))?.length, 1)
  for (const bad of ['', '; boundary', '; boundary=', '; boundary=""', `; boundary=${'b'.repeat(201)}`])
    assert.equal(await fields(body, `multipart/form-data${bad}`), undefined, bad)
})
