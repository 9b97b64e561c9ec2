/** Answers from memory are the same as those read from the database. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { LIST, record, stored } from '../support/domains.ts'
import { gradient, expectedHash, ImageClient } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

const GET = '/api/v1/imagestore/get'
const ORIGIN = 'https://panel.ejemplo.cl'
const photo = await gradient(40, 30).png().toBuffer()
const hash = expectedHash(photo)

type Query = Readonly<Record<string, string>>

suite('a cached answer', () => {
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

  /** Changes of an image and of a record: what was read before is read again. */
  let changes = 0
  async function forget() {
    changes++
    const image = await gradient(20, changes).png().toBuffer()
    assert.equal((await new ImageClient(service.url, service.imageKey).upload(image)).status, 200)
    await stored(service, [record('zzz', { status: changes % 2 })])
  }

  test('equals one from the database', async () => {
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
        await forget()
        const answer = await ask(path, query, init)
        assert.equal(answer.status, status, `${path} ${JSON.stringify(query)}`)
        assert.deepEqual(await ask(path, query, init), answer)
      }
    }
  })
})
