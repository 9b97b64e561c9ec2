import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BodyField } from './fields.ts'
import { parseMultipart } from './multipart.ts'

const type = 'multipart/form-data; boundary=b'

function fields(body: string | Buffer, contentType = type): [string, BodyField][] | undefined {
  const parsed = parseMultipart(contentType, Buffer.from(body), { base64: ['image'] })
  return parsed.ok ? [...parsed.fields] : undefined
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
      // A backslash followed by a quote is indistinguishable from an escaped quote.
      fc.pre(!filename.includes('\\"'))
      const form = new FormData()
      form.append('image', new File([bytes], filename, { type: mime }))
      form.append('info', info)
      const request = new Response(form)
      const body = Buffer.from(await request.arrayBuffer())
      assert.deepEqual(fields(body, request.headers.get('content-type') ?? ''), [
        [
          'image',
          { kind: 'bytes', bytes: Buffer.from(bytes), filename, mime: mime || 'application/octet-stream' },
        ],
        ['info', { kind: 'text', value: info }],
      ])
    }),
  )
})

test('decides which parts are files', () => {
  const bytes = Buffer.from('ABC')
  const body = (headers: string, content: string) => part(headers, content) + closing
  const cases: [string, string, BodyField][] = [
    [named('name=image'), 'QUJD', { kind: 'bytes', bytes }],
    [named('name=image; filename=a.png'), 'ABC', { kind: 'bytes', bytes, filename: 'a.png' }],
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
    const [first] = fields(body(headers, content)) ?? []
    assert.deepEqual(first?.[1], field, headers)
  }
})

test('parses file names as clients write them', () => {
  const cases: [string, string | undefined][] = [
    ['filename="ñandú.png"', 'ñandú.png'],
    ["filename*=UTF-8''%C3%B1and%C3%BA.png", 'ñandú.png'],
    ['filename="n.png"; filename*=utf-8\'es\'%C3%B1.png', 'ñ.png'],
    ['filename*=utf-8\'\'%C3%B1.png; filename="n.png";', 'ñ.png'],
    ["filename=n.png; filename*=iso-8859-1''%F1.png", 'n.png'],
    ["filename=n.png; filename*=utf-8''%F1.png", 'n.png'],
    ['filename="a%22b%0D%0A%41.png"', 'a"b\r\n%41.png'],
    ['filename="a\\"b.png"', 'a"b.png'],
    ['filename="C:\\fotos\\a.png"', 'C:\\fotos\\a.png'],
    ['filename="C:\\"; x=y', 'C:\\'],
    ['filename="a;b=c.png"', 'a;b=c.png'],
    ['filename = "a.png" ', 'a.png'],
    ['filename="a.png', undefined],
    ['filename="a.png"x', undefined],
    ['filename', undefined],
  ]
  for (const [parameter, filename] of cases) {
    const [first] = fields(part(named(`name="f"; ${parameter}`), 'x') + closing) ?? []
    const expected = filename === undefined ? undefined : { kind: 'bytes', bytes: Buffer.from('x'), filename }
    assert.deepEqual(first?.[1], expected, parameter)
  }
})

test('parses repeated fields, an empty form, a preamble and an epilogue', () => {
  const a = (value: string) => part(named('name="a"'), value)
  assert.deepEqual(fields(a('1') + a('2') + closing), [['a', { kind: 'text', value: '2' }]])
  assert.deepEqual(fields(closing), [])
  assert.deepEqual(fields(`preamble\r\n${a('1')}--b--epilogue\r\n--b\r\n`), [
    ['a', { kind: 'text', value: '1' }],
  ])
  assert.deepEqual(fields(a('')+ closing), [['a', { kind: 'text', value: '' }]]) // prettier-ignore
  assert.deepEqual(fields(a('x').replace('--b', '--b \t') + '--b--'), [['a', { kind: 'text', value: 'x' }]])
})

test('text that only looks like a delimiter is content', () => {
  for (const value of ['--bc', '\r\n--bc\r\n', '\r\n--b-\r\nx', '\n--b--\n', '\r\n\r\n--', 'x\r\n']) {
    assert.deepEqual(fields(part(named('name="a"'), value) + closing), [['a', { kind: 'text', value }]])
  }
})

test('a body truncated anywhere before its last delimiter is unparsable', () => {
  const body = `${part(named('name="a"'), '1')}${part(named('name="image"; filename="x"'), 'abc\r\n--')}--b--`
  assert.equal(fields(body)?.length, 2)
  for (let length = 0; length < body.length; length++) assert.equal(fields(body.slice(0, length)), undefined)
})

test('malformed', () => {
  const header = named('name="a"')
  const bodies = [
    '',
    part('Content-Type: text/plain', 'x') + closing,
    part(named('filename="x"'), 'x') + closing,
    part('Content-Disposition: attachment; name="a"', 'x') + closing,
    part(`${header}\r\n no colon`, 'x') + closing,
    part(`${header}\r\nContent-Transfer-Encoding: quoted-printable`, 'x') + closing,
    part(header, 'x').replaceAll('\r\n', '\n') + closing,
    `--b\r\n${header}\r\n--b--\r\n`,
    '--b\r\n--b--\r\n',
    '--b\r\n\r\n--b--\r\n',
    part(`${header}\r\nX: ${'x'.repeat(9000)}`, 'x') + closing,
    part(named(`name="${'n'.repeat(257)}"`), 'x') + closing,
    part(header, 'x').repeat(33) + closing,
    Buffer.from(part(header, 'ñ') + closing, 'latin1'),
    Buffer.from(part(named('name="ñ"'), 'x') + closing, 'latin1'),
  ]
  for (const body of bodies) assert.equal(fields(body), undefined, body.toString().slice(0, 100))
  assert.notEqual(fields(part(header, 'x').repeat(32) + closing), undefined)
})

test('boundaries', () => {
  const body = part(named('name="a"'), 'x') + closing
  for (const good of ['boundary=b', 'boundary="b"', 'charset=utf-8; BOUNDARY = b', 'boundary=b;']) {
    assert.equal(fields(body, `multipart/form-data; ${good}`)?.length, 1, good)
  }
  for (const bad of [
    '',
    '; boundary',
    '; boundary=',
    '; boundary=""',
    '; boundary="b',
    '; boundary=ñ',
    `; boundary=${'b'.repeat(201)}`,
  ]) {
    assert.equal(fields(body, `multipart/form-data${bad}`), undefined, bad)
  }
})
