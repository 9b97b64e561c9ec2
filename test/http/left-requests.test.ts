/** Requests whose clients left before the answer: they read nothing more. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database, Reader } from '../../src/storage/database/database.ts'
import { POOLS } from '../../src/lib/limits.ts'
import { record, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { startService } from '../support/service.ts'

const LEAVING = 3
const service = await startService()
after(() => service[Symbol.asyncDispose]())

before(async () => {
  await stored(service, [record('banco'), record('banc0')])
  const image = await gradient(16, 16).png().toBuffer()
  assert.equal((await new ImageClient(service.url, service.imageKey).upload(image)).status, 200)
})

/** Delays the reads of scans until they are released, and counts those that were made. */
function holdScans(database: Database) {
  const scannerOf = database.scannerOf.bind(database)
  const released = Promise.withResolvers<void>()
  const reads = { started: 0, made: 0 }
  async function made<T>(read: () => Promise<T>): Promise<T> {
    reads.started++
    await released.promise
    const result = await read()
    reads.made++
    return result
  }
  database.scannerOf = (...given) => {
    const reader = scannerOf(...given)
    const held: Reader = {
      all: (query) => made(() => reader.all(query)),
      first: (query) => made(() => reader.first(query)),
      values: (query) => made(() => reader.values(query)),
    }
    return held
  }
  return {
    reads,
    release: () => released.resolve(),
    [Symbol.dispose]() {
      database.scannerOf = scannerOf
    },
  }
}

const leftRequests = async () => (await service.log()).split('"status":499').length - 1

const REQUESTS: Readonly<Record<string, (i: number) => string>> = {
  'domainwatch/export': () => '/api/v1/domainwatch/export?fields=note&format=ndjson',
  'imagestore/list': () => '/api/v1/imagestore/list?search=foto',
  'imagestore/stats': () => '/api/v1/imagestore/stats?days=5',
}

/** Sends requests and leaves them once they have arrived. @param hasBegun whether the first of them is held */
async function leave(paths: readonly string[], hasBegun: () => boolean): Promise<void> {
  const leftBefore = await leftRequests()
  const leaving = new AbortController()
  const left = paths.map((path) =>
    fetch(`${service.url}${path}`, { signal: leaving.signal }).then((response) => response.text()),
  )
  await eventually(hasBegun)
  // The others have arrived by then.
  for (const _ of paths) assert.equal((await call(service, '/healthz')).status, 200)
  leaving.abort()
  await Promise.allSettled(left)
  await eventually(async () => (await leftRequests()) === leftBefore + paths.length)
}

for (const [name, request] of Object.entries(REQUESTS)) {
  test(`${name} reads nothing more for clients that have left`, async () => {
    const key = name.startsWith('image') ? service.imageKey : service.domainKey
    const toPath = (i: number) => `${request(i)}&api=${key}`
    const { database } = service.app.context
    const readsAlone = async () => {
      using scans = holdScans(database)
      scans.release()
      assert.equal((await call(service, toPath(LEAVING))).status, 200)
      return scans.reads.made
    }
    const expected = await readsAlone()
    assert.ok(expected > 0)
    using scans = holdScans(database)
    await leave(
      Array.from({ length: LEAVING }, (_, i) => toPath(i)),
      () => scans.reads.started > 0,
    )
    scans.release()
    assert.equal((await call(service, toPath(LEAVING + 1))).status, 200)
    assert.equal(scans.reads.made, expected)
    assert.ok(!(await service.log()).includes('unexpected error'))
  })
}

test('no Atom feed is made for clients that have left', async () => {
  const { changes } = service.app.context.database
  const newest = changes.newest.bind(changes)
  const released = Promise.withResolvers<void>()
  let searches = 0
  changes.newest = async function* (count) {
    searches++
    await released.promise
    yield* newest(count)
  }
  const toPath = (i: number) =>
    `/api/v1/domainwatch/events?format=atom&search=banco${i}&api=${service.domainKey}`
  await leave(
    Array.from({ length: LEAVING }, (_, i) => toPath(i)),
    () => searches > 0,
  )
  released.resolve()
  assert.equal((await call(service, toPath(LEAVING))).status, 200)
  // Those that had begun, and the last.
  assert.equal(searches, POOLS.searches.perClient + 1)
  changes.newest = newest
})
