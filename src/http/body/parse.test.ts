import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../../test/support/any-character.ts'
import { type BodyField, parseBody } from './parse.ts'

interface Encoded {
  type: string
  body: Buffer
}
type Pairs = readonly (readonly [string, string])[]

const urlencoded = 'application/x-www-form-urlencoded'

function asUrlencoded(pairs: Pairs): Encoded {
  const body = new URLSearchParams()
  for (const [name, value] of pairs) body.append(name, value)
  return { type: `${urlencoded};charset=UTF-8`, body: Buffer.from(body.toString()) }
}

function asJson(pairs: Pairs): Encoded {
  return { type: 'application/json', body: Buffer.from(JSON.stringify(Object.fromEntries(pairs))) }
}

// Built manually, because FormData turns every line break of a text into CR LF.
function asMultipart(pairs: Pairs): Encoded {
  const boundary = 'frontera-8f2b61'
  const parts = pairs.map(([name, value]) => {
    const escaped = name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
    return `--${boundary}\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`
  })
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
  }
}

const encodings = [asUrlencoded, asJson, asMultipart]

async function fieldsOf({ type, body }: Encoded): Promise<[string, BodyField][]> {
  const parsed = await parseBody(type, body)
  assert.ok(parsed, `unparsable ${type}: ${body.toString('latin1', 0, 300)}`)
  return [...parsed].toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const asText = (pairs: Pairs) =>
  pairs
    .map(([name, value]): [string, BodyField] => [name, { kind: 'text', value }])
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

const wellFormed = fc.string({ unit: anyCharacter, maxLength: 30 })
// In a multipart name, `%22` is an escaped quote and so is a backslash before one: no reader can tell them apart.
const nameText = wellFormed.filter(
  (name) => !/%(22|0d|0a)/i.test(name) && !name.includes('\\"') && !name.includes('\0'),
)
const toPairs = fc.uniqueArray(fc.tuple(nameText, wellFormed), { selector: ([name]) => name, maxLength: 8 })

test('the three encodings yield the same fields', async () => {
  await fc.assert(
    fc.asyncProperty(toPairs, fc.constantFrom(...encodings), async (pairs, encode) => {
      assert.deepEqual(await fieldsOf(encode(pairs)), asText(pairs))
    }),
    { numRuns: 500 },
  )
})

const isResult = (parsed: unknown) => parsed === undefined || parsed instanceof Map

test('random bytes and damaged bodies never throw', async () => {
  const types = ['application/json', urlencoded, 'multipart/form-data; boundary=b', 'multipart/form-data']
  const soup = fc.array(
    fc.constantFrom(
      '--b',
      '\r\n',
      '--',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ':',
      ',',
      'image',
      '%',
      '+',
      '=',
      '&',
      'QQ',
    ),
  )
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    soup.map((tokens) => Buffer.from(tokens.join(''))),
  )
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom(...types), async (body, type) => {
      assert.ok(isResult(await parseBody(type, body, ['image'])))
    }),
    { numRuns: 500 },
  )
  await fc.assert(
    fc.asyncProperty(
      toPairs,
      fc.constantFrom(...encodings),
      fc.nat(),
      fc.nat(255),
      async (pairs, encode, place, byte) => {
        const { type, body } = encode(pairs)
        if (body.length > 0) body[place % body.length] = byte
        assert.ok(isResult(await parseBody(type, body, ['image'])))
        assert.ok(isResult(await parseBody(type, body.subarray(0, place % (body.length + 1)))))
      },
    ),
    { numRuns: 500 },
  )
})
