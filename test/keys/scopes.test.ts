import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { SCOPES, type Scope, type Service } from '../../src/http/auth/key-limits.ts'
import { ADD, LIST, record } from '../support/domains.ts'
import { ENDPOINTS } from '../support/endpoints.ts'
import { call, ENCODINGS, send } from '../support/http.ts'
import { limited, OUT_OF_SCOPE } from '../support/key-limits.ts'
import { startService } from '../support/service.ts'

// The doctor tries the largest bodies.
const service = await startService({ flags: { 'max-image-bytes': '1MiB' } })
after(() => service[Symbol.asyncDispose]())

/** What the contract opens to limited keys; everything else takes a key of scope `full`. */
const OPEN: Readonly<Record<string, readonly Scope[]>> = {
  'GET /api/v1/domainwatch/list': ['read', 'write'],
  'GET /api/v1/domainwatch/export': ['read', 'write'],
  'GET /api/v1/domainwatch/similar': ['read', 'write'],
  'GET /api/v1/domainwatch/stats': ['read', 'write'],
  'GET /api/v1/domainwatch/campaigns': ['read', 'write'],
  'GET /api/v1/domainwatch/dns': ['read', 'write'],
  'POST /api/v1/domainwatch/dns': ['read', 'write'],
  'GET /api/v1/domainwatch/history': ['read', 'write'],
  'GET /api/v1/domainwatch/activity': ['read', 'write'],
  'GET /api/v1/domainwatch/feeds': ['read', 'write'],
  'GET /api/v1/domainwatch/events': ['read', 'write'],
  'GET /api/v1/domainwatch/watches': ['read', 'write'],
  'GET /api/v1/domainwatch/key': ['read', 'write'],
  'POST /api/v1/domainwatch/add': ['write'],
  'POST /api/v1/domainwatch/update': ['write'],
  'POST /api/v1/domainwatch/import': ['write'],
  'GET /api/v1/domainwatch/imports': ['read', 'write'],
  'DELETE /api/v1/domainwatch/imports': ['write'],
  'POST /api/v1/domainwatch/bulk': ['write'],
  'GET /api/v1/domainwatch/bulk': ['read', 'write'],
  'DELETE /api/v1/domainwatch/bulk': ['write'],
  'POST /api/v1/domainwatch/bulk/undo': ['write'],
  'GET /api/v1/domainwatch/queue': ['read', 'write'],
  'POST /api/v1/domainwatch/queue': ['write'],
  'DELETE /api/v1/domainwatch/queue': ['write'],
  'GET /api/v1/domainwatch/dismissed': ['read', 'write'],
  'DELETE /api/v1/domainwatch/dismissed': ['write'],
  'DELETE /api/v1/domainwatch/interest': ['write'],
  'GET /api/v1/domainwatch/rules': ['read', 'write'],
  'POST /api/v1/domainwatch/rules': ['write'],
  'DELETE /api/v1/domainwatch/rules': ['write'],
  'POST /api/v1/domainwatch/rules/update': ['write'],
  'POST /api/v1/domainwatch/rules/preview': ['write'],
  'GET /api/v1/domainwatch/views': ['read', 'write'],
  'POST /api/v1/domainwatch/views': ['write'],
  'DELETE /api/v1/domainwatch/views': ['write'],
  'POST /api/v1/domainwatch/watches': ['write'],
  'DELETE /api/v1/domainwatch/watches': ['write'],
  'POST /api/v1/domainwatch/watches/test': ['write'],
  'POST /api/v1/domainwatch/watches/update': ['write'],
  'POST /api/v1/domainwatch/watches/rotate': ['write'],
  'GET /api/v1/domainwatch/watches/deliveries': ['read', 'write'],
  'POST /api/v1/domainwatch/watches/replay': ['write'],
  'GET /api/v1/imagestore/get': ['read', 'upload'],
  'GET /api/v1/imagestore/list': ['read'],
  'GET /api/v1/imagestore/similar': ['read'],
  'GET /api/v1/imagestore/stats': ['read'],
  'GET /api/v1/imagestore/key': ['read', 'upload', 'tickets'],
  'POST /api/v1/imagestore/upload': ['upload'],
  'POST /api/v1/imagestore/tickets': ['upload', 'tickets'],
  'POST /api/v1/imagestore/update': ['upload'],
  'POST /api/v1/imagestore/trash': ['upload'],
  'POST /api/v1/imagestore/delete': ['upload'],
  'DELETE /api/v1/imagestore/delete': ['upload'],
}

const ACCOUNTS = { domainwatch: 'grupo', imagestore: 'fotos', admin: 'dueña' }
const keys = new Map<string, string>()
before(async () => {
  for (const name of ['domainwatch', 'imagestore', 'admin'] as const) {
    for (const scope of SCOPES[name]) {
      keys.set(`${name} ${scope}`, (await service.newKey(ACCOUNTS[name], name, limited({ scope }))).key)
    }
  }
})
const keyOf = (name: Service, scope: Scope) => keys.get(`${name} ${scope}`) ?? ''

for (const { method, path, service: name } of ENDPOINTS) {
  test(`${method} ${path} is open to the scopes of the contract`, async () => {
    for (const [i, scope] of SCOPES[name].entries()) {
      const isOpen = scope === 'full' || (OPEN[`${method} ${path}`] ?? []).includes(scope)
      const api = keyOf(name, scope)
      const replies = [await call(service, path, { method, query: { api } })]
      if (method === 'GET') replies.push(await call(service, path, { method: 'HEAD', query: { api } }))
      else {
        // Before any other check, as with any other key that may not.
        const fields = { api, data: 'x', info: 'x', image: '=', hash: '' }
        const encoding = ENCODINGS[i % ENCODINGS.length] ?? 'json'
        replies.push(await send(service, path, fields, { encoding, method }))
      }
      for (const { status, body } of replies) {
        if (isOpen) assert.notDeepEqual(body, OUT_OF_SCOPE, scope)
        else if (body === undefined) assert.equal(status, 403, scope)
        else assert.deepEqual(body, OUT_OF_SCOPE, scope)
      }
    }
  })
}

test('the table of endpoints has every operation with a key, and the document lists its scopes', async () => {
  const { text } = await call(service, '/openapi.json')
  const paths: Record<string, Record<string, { 'x-scopes'?: string[] }>> = JSON.parse(text).paths
  const documented = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { 'x-scopes': scopes }]) =>
      scopes === undefined ? [] : [[`${method.toUpperCase()} ${path}`, scopes] as const],
    ),
  )
  const expected = ENDPOINTS.map(({ method, path }) => {
    const name = `${method} ${path}`
    return [name, [...(OPEN[name] ?? []), 'full']] as const
  })
  const sorted = (all: readonly (readonly [string, readonly string[]])[]) =>
    all.toSorted(([a], [b]) => (a < b ? -1 : 1))
  assert.deepEqual(sorted(documented), sorted(expected))
})

test('an out-of-scope request changes nothing', async () => {
  const api = keyOf('domainwatch', 'read')
  const refused = await send(service, ADD, { data: [record('ajeno')] }, { query: { api } })
  assert.deepEqual(refused.body, OUT_OF_SCOPE)
  const listed = await call(service, LIST, { query: { api, search: 'ajeno' } })
  assert.partialDeepStrictEqual(listed.body, { status: 200, count: 0 })
})

test('next pages and feeds use the key of the request', async () => {
  const [write, read] = [keyOf('domainwatch', 'write'), keyOf('domainwatch', 'read')]
  await send(service, ADD, { data: [record('uno'), record('dos')] }, { query: { api: write } })
  const { headers } = await call(service, LIST, { query: { api: read, limit: 1 } })
  const next = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? ''
  assert.equal(new URL(next).searchParams.get('api'), read)
  assert.equal((await fetch(next)).status, 200)
  const feed = { api: read, format: 'atom' }
  const atom = await call(service, '/api/v1/domainwatch/events', { query: feed })
  assert.equal(atom.status, 200)
  assert.match(atom.text, /<feed /)
  const self = /<link rel="self" [^>]*href="([^"]+)"/.exec(atom.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.equal(new URL(self).searchParams.get('api'), read)
  assert.equal((await fetch(self)).status, 200)
})

test('every key can query its own scope', async () => {
  const ask = async (name: Service, api: string) =>
    (await call(service, `/api/v1/${name}/key`, { query: { api } })).body
  const none = { status: 200, expires: null, rate: null }
  for (const name of ['domainwatch', 'imagestore', 'admin'] as const) {
    for (const scope of SCOPES[name]) {
      const wanted = { ...none, account: ACCOUNTS[name], service: name, scope }
      assert.deepEqual(await ask(name, keyOf(name, scope)), wanted)
    }
  }
  const expiresAt = Date.now() + 60_500
  const { key } = await service.newKey('grupo', 'domainwatch', {
    scope: 'read',
    expiresAt,
    rate: { count: 5, periodMs: 1_000 },
  })
  assert.deepEqual(await ask('domainwatch', key), {
    status: 200,
    account: 'grupo',
    service: 'domainwatch',
    scope: 'read',
    expires: Math.floor(expiresAt / 1_000),
    rate: '5/s',
  })
})
