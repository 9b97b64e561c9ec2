/** Small answers given in front of the framework: nobody can tell, and nothing is answered so that should not be. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LIST, record, stored } from '../support/domains.ts'
import { gradient, expectedHash, ImageClient } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

const GET = '/api/v1/imagestore/get'
const ORIGIN = 'https://panel.ejemplo.cl'
const photo = await gradient(40, 30).png().toBuffer()
const hash = expectedHash(photo)

type Query = Readonly<Record<string, string>>

suite('a small answer', () => {
  let service: TestService

  before(async () => {
    service = await startService({ flags: { 'cors-origins': ORIGIN } })
    await new ImageClient(service.url, service.imageKey).upload(photo)
    await stored(service, [record('ñandú'), record('casa'), record('casona', { status: 0 })])
  })
  after(() => service[Symbol.asyncDispose]())

  async function ask(path: string, query: Query, init: RequestInit = {}) {
    const response = await fetch(`${service.url}${path}?${new URLSearchParams(query)}`, init)
    const headers = [...response.headers]
      .filter(([name]) => name !== 'date')
      .map(([name, value]) => [name, value])
    return { status: response.status, headers, body: await response.text() }
  }

  /** In the general way: the framework knows this address too. */
  async function askGenerally(path: string, query: Query, init?: RequestInit) {
    const answer = await ask(path.replace('/api/', '/%61pi/'), query, init)
    const headers = answer.headers.map(([name, value]) => [name, value?.replace('/%61pi/', '/api/')])
    return { ...answer, headers }
  }

  test('is the same at once as in the general way', async () => {
    const image = { api: service.imageKey }
    const domains = { api: service.domainKey }
    const unknown = { api: 'x'.repeat(32) }
    for (const [path, query, status] of [
      [GET, { ...image, hash }, 200],
      [GET, { hash, ...image, nada: 'ñ' }, 200],
      [GET, { ...image, hash: hash.replace(/./, 'z') }, 404],
      [GET, image, 401],
      [GET, { hash }, 401],
      [GET, { ...domains, hash }, 403],
      [GET, { ...unknown, hash }, 401],
      [LIST, domains, 200],
      [LIST, { ...domains, search: 'Ñandú' }, 200],
      [LIST, { ...domains, search: 'casa', limit: '1' }, 200],
      [LIST, { ...domains, limit: '1', sort: 'asc' }, 200],
      [LIST, { ...domains, last_register: '1' }, 200],
      [LIST, { ...domains, last_deleted: '5', last_register: '5' }, 200],
      [LIST, { ...domains, search: 'nada-de-eso' }, 200],
      [LIST, { ...domains, last_register: '0' }, 400],
      [LIST, { ...domains, agent: '' }, 400],
      [LIST, { ...domains, cursor: 'x' }, 400],
      [LIST, image, 403],
    ] as const) {
      for (const init of [{}, { method: 'HEAD' }, { headers: { origin: ORIGIN } }]) {
        // What is known from the first time is at hand the second time.
        await ask(path, query, init)
        const answer = await ask(path, query, init)
        assert.equal(answer.status, status, `${path} ${JSON.stringify(query)}`)
        assert.deepEqual(answer, await askGenerally(path, query, init))
      }
    }
  })

  test('passes by the framework', async () => {
    const lane = service.app.server.atOnce
    const answer = lane.answer.bind(lane)
    let isAtOnce = false
    Object.assign(lane, {
      answer: (request: IncomingMessage, response: ServerResponse) => (isAtOnce = answer(request, response)),
    })
    await new ImageClient(service.url, service.imageKey).upload(photo)
    for (const [path, query] of [
      [GET, { api: service.imageKey, hash }],
      [LIST, { api: service.domainKey, limit: '1' }],
    ] as const) {
      isAtOnce = false
      // Lists are read into memory in the background, and PostgreSQL tells of a commit a moment later.
      for (let i = 0; i < 500 && !isAtOnce; i++) assert.equal((await ask(path, query)).status, 200)
      assert.ok(isAtOnce, path)
    }
  })
})
