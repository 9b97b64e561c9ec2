import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { corpus, inCorpus } from '../../../test/support/corpus.ts'
import { decodeBase64 } from '../../lib/base64.ts'
import type { BodyField } from './fields.ts'
import { parseJsonBody, parseJsonText } from './json.ts'

const options = { base64: ['image', 'thumbnail'] }

/** The reference: a strict decoder and JSON.parse. */
function plainly(body: Buffer): [string, BodyField][] | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const entries: [string, unknown][] = Object.entries(value)
  return entries.map(([name, each]): [string, BodyField] => {
    if (typeof each !== 'string') return [name, { kind: 'json', value: each }]
    if (!options.base64.includes(name)) return [name, { kind: 'text', value: each }]
    const bytes = decodeBase64(each)
    return [name, bytes === undefined ? { kind: 'not-base64' } : { kind: 'bytes', bytes }]
  })
}

function fields(body: string | Buffer): [string, BodyField][] | undefined {
  const parsed = parseJsonBody(Buffer.from(body), options)
  return parsed.ok ? [...parsed.fields] : undefined
}

function equalsPlain(body: string | Buffer) {
  assert.deepEqual(fields(body), plainly(Buffer.from(body)), body.toString('latin1').slice(0, 200))
}

test('equals JSON.parse where slices could be wrong', () => {
  const bodies = [
    '{"image":"QUJD","image":"REVG"}',
    '{"image":"QUJD","image":1}',
    '{"image":1,"image":"QUJD"}',
    '{"image":"QUJD","image":{"image":"REVG"}}',
    '{"image":"QUJD","im\\u0061ge":"REVG"}',
    '{"im\\u0061ge":"REVG","image":"QUJD"}',
    '{"image":"QUJD","thumbnail":"REVG"}',
    '{"thumbnail":"QUJD","a":{"image":"REVG"},"image":"R0hJ"}',
    '{"a":["image","QUJD"],"b":"image"}',
    '["image","QUJD"]',
    '["image":"QUJD"]',
    '{"image":"QU\\u004aD"}',
    '{"image":"QU\\/D"}',
    '{"image":"QU\\\\/D"}',
    '{"image":"QU\\\\\\/"}',
    '{"image":"data:image\\/png;base64,QU\\/D"}',
    '{"image":"data:image\\png;base64,QUJD"}',
    '{"image":"QU\\nJD"}',
    '{"image":"QU\nJD"}',
    '{"image":"QU JD"}',
    '{"image":"QU\\JD"}',
    '{"image":"QUJD\\"}',
    '{"image":"QUJD\\\\"}',
    '{"image":"data:image/png;base64,QUJD"}',
    '{"image":"data:image/\npng;base64,QUJD"}',
    '{"image":"data:ñ;base64,QUJD"}',
    '{"image":""}',
    '{"image":"="}',
    '{"image":"QUJD" "x"}',
    '{"image":"QUJD""REVG"}',
    '{"image":"QUJD",}',
    '{"image":"QUJD"}}',
    '{"image":"QUJD"',
    '{"image":"QUJD',
    '{"image":QUJD"}',
    '{"image","QUJD"}',
    '{"image":"QUJD","a"}',
    '{"a":1}{"image":"QUJD"}',
    '{"a":"\\"","image":"QUJD"}',
    '{"\\"image":"QUJD"}',
    '{"__proto__":{"x":1},"constructor":"y","image":"QUJD"}',
    '"image"',
    'null',
    '',
    ' ',
    '\ufeff{"image":"QUJD"}',
    '\ufeff\ufeff{}',
    '{"a":"\ufeffx"}',
    '{"image":"QUJD","a":"\ud800"}',
  ]
  for (const body of bodies) equalsPlain(body)
})

test('equals JSON.parse on any object, valid or not', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('base64')),
    fc.string({ unit: fc.constantFrom(...'\\"/Aa0+=\n'), maxLength: 120 }),
  )
  const name = fc.oneof(
    fc.constantFrom('image', 'thumbnail', 'data', '__proto__', 'im\\'),
    fc.string({ maxLength: 5 }),
  )
  const member = fc
    .tuple(name, value, fc.constantFrom('', ' ', '\n'), fc.boolean())
    .map(([key, each, space, escaped]) => {
      const text = JSON.stringify(each)
      return `${JSON.stringify(key)}${space}:${space}${escaped ? text.replaceAll('/', '\\/') : text}`
    })
  const body = fc.array(member, { maxLength: 6 }).map((members) => Buffer.from(`{${members.join(',')}}`))
  fc.assert(
    fc.property(
      body,
      fc.nat(),
      fc.constantFrom(...Buffer.from('"\\{}[]:, \n\u0000x')),
      (bytes, place, byte) => {
        equalsPlain(bytes)
        bytes[place % bytes.length] = byte
        equalsPlain(bytes)
        equalsPlain(bytes.subarray(0, place % bytes.length))
      },
    ),
    { numRuns: 2000 },
  )
})

test('accepts 512 levels, and deep nesting does not overflow the stack', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.notEqual(fields(nested(512)), undefined)
  assert.equal(fields(nested(513)), undefined)
  for (const bomb of ['[', '{"a":', '[{"":']) assert.equal(fields(bomb.repeat(1_000_000)), undefined)
})

test('decodes long base64 with escaped slashes anywhere, and rejects other escapes', () => {
  for (const slashes of [65_534, 65_535, 65_536, 65_537]) {
    const text = 'A'.repeat(slashes % 4) + '/'.repeat(slashes - (slashes % 4))
    const escaped = text.replaceAll('/', '\\/')
    for (const body of [escaped, `A${escaped}`, `${escaped}\\n`, `${escaped}\\u0041`, `${escaped}\\\\`]) {
      const ours = fields(`{"image":"${body}"}`)
      assert.ok(
        isDeepStrictEqual(ours, plainly(Buffer.from(`{"image":"${body}"}`))),
        `${slashes}: ${body.slice(-9)}`,
      )
    }
  }
})

test('parses untrusted JSON text', () => {
  assert.deepEqual(parseJsonText(' [{"a":"ñ"}] '), [{ a: 'ñ' }])
  assert.equal(parseJsonText('null'), null)
  for (const text of ['', '{', '"', '\ufeff1', 'NaN', '['.repeat(1_000_000)])
    assert.equal(parseJsonText(text), undefined)
})

test('invalid UTF-8 is unparsable, also in a base64 field', () => {
  assert.equal(fields(Buffer.from('{"a":"ñ"}', 'latin1')), undefined)
  assert.equal(fields(Buffer.from('{"image":"QUJDñ"}', 'latin1')), undefined)
})

const folder = new URL('json/test_parsing/', corpus)

test('JSONTestSuite: every file equals JSON.parse, at the top level and in a field', () => {
  const files = readdirSync(folder)
  assert.ok(files.length > inCorpus(300, 40))
  for (const file of files) {
    const bytes = readFileSync(join(fileURLToPath(folder), file))
    const ours = fields(bytes)
    assert.deepEqual(ours, plainly(bytes), file)
    if (file.startsWith('y_')) assert.notEqual(ours, undefined, file)
    if (file.startsWith('n_')) assert.equal(ours, undefined, file)
    equalsPlain(Buffer.concat([Buffer.from('{"data":'), bytes, Buffer.from(',"image":"QUJD"}')]))
  }
})
