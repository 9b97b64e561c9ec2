import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { corpus, inCorpus } from '../support/corpus.ts'
import { ADD, names } from '../support/domains.ts'
import { call, type CallOptions, type Reply } from '../support/http.ts'
import { startService, type TestService } from '../support/service.ts'

const folder = new URL('json/test_parsing/', corpus)

type Text = Buffer<ArrayBuffer>

/** The bytes of a text as `data`, in each way a body can carry them. */
const CARRIERS: Readonly<Record<string, (text: Text) => CallOptions>> = {
  urlencoded: (text) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `data=${text.toString('hex').replaceAll(/../g, '%$&')}`,
  }),
  'multipart text': (text) => multipart('', text),
  'multipart file': (text) => multipart('; filename="datos.json"', text),
  'JSON value': (text) => ({
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([Buffer.from('{"data":'), text, Buffer.from('}')]),
  }),
  'JSON text': (text) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: text.toString() }),
  }),
}

function multipart(more: string, text: Text): CallOptions {
  const head = `--limite\r\ncontent-disposition: form-data; name="data"${more}\r\n\r\n`
  return {
    headers: { 'content-type': 'multipart/form-data; boundary=limite' },
    body: Buffer.concat([Buffer.from(head), text, Buffer.from('\r\n--limite--\r\n')]),
  }
}

let service: TestService | undefined
async function running(): Promise<TestService> {
  return (service ??= await startService())
}
after(() => service?.[Symbol.asyncDispose]())

for (const [carrier, carry] of Object.entries(CARRIERS)) {
  test(`invalid JSON stores nothing, and no JSON crashes the service: ${carrier}`, async () => {
    const own = await running()
    const files = readdirSync(folder)
    assert.ok(files.length > inCorpus(300, 40))
    for (const file of files) {
      const text = Buffer.from(readFileSync(new URL(encodeURIComponent(file), folder)))
      const reply: Reply = await call(own, ADD, { query: { api: own.domainKey }, ...carry(text) })
      if (file.startsWith('n_')) {
        assert.partialDeepStrictEqual(reply.body, { status: 500, count: 0 }, file)
        assert.match(reply.text, /"errors":\[\]/, file)
      } else {
        // Some are arrays, of no records at all; none of the others is a record.
        assert.partialDeepStrictEqual(reply.body, { status: isEmptyArray(text) ? 200 : 500, count: 0 }, file)
      }
    }
    assert.deepEqual(await names(own), [])
    assert.deepEqual((await call(own, '/healthz')).body, { status: 200 })
  })
}

function isEmptyArray(text: Text): boolean {
  return /^\s*\[\s*\]\s*$/.test(text.toString())
}
