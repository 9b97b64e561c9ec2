import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJson, parseJsonText } from '../../lib/json.ts'
import { type BodyField, parseBody } from './parse.ts'

async function fields(body: string | Buffer): Promise<[string, BodyField][] | undefined> {
  const parsed = await parseBody('application/json', Buffer.from(body), ['image', 'thumbnail'])
  return parsed && [...parsed]
}

test('strings are text, base64 fields are bytes, other values are JSON, and only objects have fields', async () => {
  assert.deepEqual(await fields('\ufeff{"a":"x","b":1,"c":null,"d":[{}],"image":"QUJD","thumbnail":"="}'), [
    ['a', { kind: 'text', value: 'x' }],
    ['b', { kind: 'json', value: 1 }],
    ['c', { kind: 'json', value: null }],
    ['d', { kind: 'json', value: [{}] }],
    ['image', { kind: 'bytes', bytes: Buffer.from('ABC') }],
    ['thumbnail', { kind: 'not-base64' }],
  ])
  assert.deepEqual(await fields('{"__proto__":{"polluted":1}}'), [
    ['__proto__', { kind: 'json', value: { polluted: 1 } }],
  ])
  for (const body of ['[]', 'null', '"image"', '1']) assert.deepEqual(await fields(body), [], body)
})

test('invalid JSON and invalid UTF-8 are unparsable', async () => {
  for (const body of ['', ' ', '{"a":1', '{"a":1}}', '\ufeff\ufeff{}', Buffer.from('{"a":"ñ"}', 'latin1')])
    assert.equal(await fields(body), undefined, String(body))
})

test('accepts 512 levels, and deep nesting does not overflow the stack', async () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
  assert.notEqual(await fields(nested(512)), undefined)
  assert.equal(await fields(nested(513)), undefined)
  for (const bomb of ['[', '{"a":', '[{"":']) assert.equal(await fields(bomb.repeat(1_000_000)), undefined)
})

test('brackets in strings nest nothing', () => {
  const text = fc.string({ unit: fc.constantFrom('\\', '"', '[', '{', '[['.repeat(300)), maxLength: 6 })
  fc.assert(
    fc.property(fc.dictionary(text, fc.array(text, { maxLength: 3 })), (value) => {
      const json = JSON.stringify(value)
      assert.deepEqual(parseJsonText(json), parseJson(json))
    }),
  )
})
