import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ADD, add, DNS, LIST, record, UPDATE } from '../support/domains.ts'
import { ENDPOINTS } from '../support/endpoints.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { limited, perMinute } from '../support/key-limits.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'

const traced = await startService({ flags: { 'log-level': 'trace' } })
after(() => traced[Symbol.asyncDispose]())

async function bytesUnder(folder: string): Promise<Buffer> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  const whole = files
    .filter((entry) => entry.isFile())
    // What background jobs remove meanwhile holds nothing any more.
    .map((entry) => readFile(join(entry.parentPath, entry.name)).catch(() => Buffer.alloc(0)))
  return Buffer.concat(await Promise.all(whole))
}

test('only the digest of a key is stored, at run time and afterwards', async () => {
  await using service = await startService()
  const { key, id } = await service.newKey('cuenta', 'domainwatch')
  await add(service, [record('uno')], { key })
  await service.revokeKey(id)
  const check = async () => {
    const bytes = Buffer.concat([await bytesUnder(service.data), await service.dump()])
    assert.ok(bytes.includes(id))
    assert.ok(bytes.includes(hash('sha256', service.domainKey)))
    for (const secret of [key, service.domainKey, service.imageKey])
      assert.equal(bytes.includes(secret), false)
  }
  await check()
  await service.stop()
  await check()
})

test('a limited key is unknown to nodes of an older version', async () => {
  const keys = [
    limited({ scope: 'read' }),
    limited({ expiresAt: Date.now() }),
    limited({ rate: perMinute(1) }),
  ]
  for (const limits of keys) {
    const { key, id } = await traced.newKey('cuenta', 'domainwatch', limits)
    const bytes = Buffer.concat([await bytesUnder(traced.data), await traced.dump()])
    assert.ok(bytes.includes(id))
    assert.equal(bytes.includes(hash('sha256', key)), false)
    assert.equal(bytes.includes(key), false)
  }
})

test('the value of api is in no log, metric or response, whatever fails', async () => {
  await using service = await startService({ flags: { 'log-level': 'trace', 'dns-servers': '127.0.0.1:9' } })
  const canaries = ['canario-equivocado-7f3a', service.domainKey, service.imageKey]
  const huge = new Uint8Array(33 * 1024 * 1024)
  const answers: string[] = []
  const keep = (text: string | undefined) => answers.push(text ?? '')

  const TYPES = ['application/json', 'multipart/form-data; boundary=x', 'text/plain', ';;']
  for (const api of canaries) {
    for (const [i, { method, path }] of ENDPOINTS.entries()) {
      const query = { api }
      const wrong = { ...query, limit: 'x', domain: api, hash: api }
      keep((await call(service, path, { method, query })).text)
      keep((await call(service, path, { method, query: wrong })).text)
      keep((await call(service, path, { method: 'PATCH', query })).text)
      keep((await call(service, `${path}/${api}`, { method, query })).text)
      if (method === 'GET') continue
      const fields = { api, data: api, info: api, image: api, hash: api }
      const encoding = ENCODINGS[i % ENCODINGS.length] ?? 'json'
      keep((await send(service, path, fields, { encoding, method })).text)
      const headers = { 'content-type': TYPES[i % TYPES.length] ?? '' }
      const body = new Uint8Array(Buffer.from(`{"api":"${api}",`))
      keep((await call(service, path, { method, query, headers, body })).text)
      keep((await call(service, path, { method, headers, body })).text)
    }
    keep((await call(service, ADD, { query: { api }, body: huge })).text)
    keep((await call(service, `/i/${api}&m=${api}?api=${api}`)).text)
    keep((await call(service, DNS, { query: { api, domain: 'ejemplo.cl' } })).text)
    keep((await send(service, UPDATE, { data: [{ domain: api }] }, { query: { api } })).text)
    for (const request of [
      `GET ${LIST}?api=${api} HTTP/9.9\r\n\r\n`,
      `GET ${LIST}?api=${api} x HTTP/1.1\r\n\r\n`,
      `GET ${LIST}?api=${api} HTTP/1.1\r\n\r\n`,
      `GET ${LIST}%?api=${api} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      `GET ${LIST}?api=${api}&x=${'a'.repeat(9_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      `GET ${LIST}?api=${api}&x=${'a'.repeat(50_000)} HTTP/1.1\r\nhost: x\r\n\r\n`,
      `HOLA ${LIST}?api=${api} HTTP/1.1\r\nhost: x\r\n\r\n`,
      `POST ${ADD}?api=${api} HTTP/1.1\r\nhost: x\r\ncontent-length: x${api}\r\n\r\n`,
      `GET /healthz HTTP/1.1\r\nhost: ${api}\r\nx-forwarded-for: ${api}\r\nreferer: /?api=${api}\r\nconnection: close\r\n\r\n`,
    ]) {
      const connection = await RawConnection.open(service)
      connection.send(request)
      keep((await connection.reply())?.body)
      connection.close()
    }
  }

  // A fault of our own, deep inside: the tables are gone.
  for (const table of ['domains', 'images']) await service.sql(`ALTER TABLE ${table} RENAME TO no_${table}`)
  const data = [record('nuevo')]
  for (const reply of [
    await send(service, ADD, { data }, { query: { api: service.domainKey } }),
    await call(service, '/api/v1/imagestore/list', { query: { api: service.imageKey } }),
  ]) {
    assert.equal(reply.status, 500)
    keep(reply.text)
  }
  await service.loseDatabase()
  for (const api of canaries) {
    keep((await call(service, LIST, { query: { api, search: 'uno' } })).text)
  }
  keep((await call(service, '/metrics')).text)
  const logged = await service.log()
  assert.match(logged, /unexpected error/)
  for (const api of canaries) {
    assert.equal(logged.includes(api), false, 'in the log')
    // A name or an image may be called like a key; what an answer must not do is take it from `api`.
    for (const text of answers) assert.equal(text.includes(api), false, text)
  }
})

test('the address of the next page carries the key for its caller, and no log does', async () => {
  await add(traced, [record('uno'), record('dos')])
  const { headers } = await call(traced, LIST, { query: { api: traced.domainKey, limit: 1 } })
  assert.match(headers.get('link') ?? '', /rel="next"$/)
  assert.equal((await traced.log()).includes(traced.domainKey), false)
})
