import assert from 'node:assert/strict'
import { imported } from '../support/jobs.ts'
import { ADD, stored, update, walk, record } from '../support/domains.ts'
import { call, send } from '../support/http.ts'
import { bytesOf, expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { perMinute } from '../support/key-limits.ts'
import { startService, type TestService, type TestServiceOptions } from '../support/service.ts'

/** Keys of an instance, which must still work after a move. */
export interface Keys {
  readonly domainKey: string
  readonly imageKey: string
  readonly otherImageKey: string
  /** Of scope `upload`: it sees one of its application's images. */
  readonly uploadKey: string
}

/** A service on SQLite and files, whatever the others of this run stand on. */
export function startHere(options: TestServiceOptions = {}): Promise<TestService> {
  // Names in review would be looked up at any time.
  const flags = { 'database-url': '', 'blobs-url': '', 'recheck-every': '0', ...options.flags }
  return startService({ ...options, flags })
}

let drawn: Promise<Buffer> | undefined
export const picture = async (text: string) =>
  stamped(await (drawn ??= gradient(20, 10).png().toBuffer()), text)

/** Stores data of all kinds: non-ASCII names, marks, deletions, two applications with common bytes. */
export async function populate(service: TestService, domains = 1_100): Promise<Keys> {
  const { key: otherImageKey } = await service.newKey('otra', 'imagestore')
  const batch = Array.from({ length: domains }, (_, i) =>
    record(`nombre${i}`, { status: i % 3 === 0 ? 0 : 1, reserve: i % 5 === 0 ? 1 : 0, date_reg: getDate(i) }),
  )
  await stored(service, [...batch, record('ñandú'), record('año', { agent: `Ana "Ñ" \\ 🦤` })])
  const marks = [
    { domain: 'nombre1', discarded: 1 },
    { domain: 'nombre2', revision: 1 },
    { domain: 'nombre4', status: 0 },
  ]
  assert.equal((await update(service, marks)).status, 200)
  await service.sql(`INSERT INTO dismissed
      (name, dismissed_by, dismissed_at, status, date_reg, date_reg_known, released_at, deleted_after, past_drops)
    VALUES ('descartado', 'grupo', 1767225600000, 0, '2025-01-01 00:00:00', 1, '2025-02-01 00:00:00', NULL, 3)`)
  const rule = { name: 'Con número', action: 'hide', digits: 1 }
  const made = await send(service, '/api/v1/domainwatch/rules', rule, { query: { api: service.domainKey } })
  assert.equal(made.status, 200, made.text)
  await imported(service, 'ñandú,volumen,12.5\nnombre3,volumen,-7\nno-anotado,enlaces,1\n', {
    format: 'numbers',
  })
  const mine = new ImageClient(service.url, service.imageKey)
  const theirs = new ImageClient(service.url, otherImageKey)
  for (let i = 0; i < 6; i++)
    assert.equal((await mine.upload(await picture(`foto ${i}`), { name: `Ñ ${i}`, ...edits(i) })).status, 200)
  const named = new URLSearchParams({ name: 'portada', hash: expectedHash(await picture('foto 3')) })
  assert.equal((await fetch(mine.endpoint('alias'), { method: 'POST', body: named })).status, 200)
  const preset = { name: 'ficha', modifiers: 'w_9' }
  const { key: admin } = await service.newKey('dueña', 'admin')
  await send(service, '/api/v1/admin/presets', preset, { query: { api: admin } })
  const ban = new URLSearchParams({ dhash: '00000000000000ff' })
  assert.equal((await fetch(mine.endpoint('bans'), { method: 'POST', body: ban })).status, 200)
  for (let i = 4; i < 8; i++) assert.equal((await theirs.upload(await picture(`foto ${i}`))).status, 200)
  assert.equal((await mine.remove(expectedHash(await picture('foto 0')))).status, 200)
  const trashed = new URLSearchParams({ hash: expectedHash(await picture('foto 2')) })
  assert.equal((await fetch(mine.endpoint('trash'), { method: 'POST', body: trashed })).status, 200)
  const limits = { scope: 'upload', expiresAt: Date.UTC(2099, 0, 1), rate: perMinute(100_000) } as const
  const { key: uploadKey } = await service.newKey('fotos', 'imagestore', limits)
  assert.equal((await new ImageClient(service.url, uploadKey).upload(await picture('foto 5'))).status, 200)
  return { domainKey: service.domainKey, imageKey: service.imageKey, otherImageKey, uploadKey }
}

/** Edits of every third image. */
const edits = (i: number) =>
  i % 3 === 1 ? { tags: ['portada', `ñ "${i}"`], meta: { número: i, nada: null }, focus: '0.25,1' } : {}

const getDate = (i: number) =>
  new Date(Date.UTC(2025, 0, 1) + i * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

/** All that clients see of an instance. */
export async function portrait(service: TestService, keys: Keys) {
  const domains = await walk({ ...service, domainKey: keys.domainKey }, { limit: 1_024 })
  const images = await Promise.all([keys.imageKey, keys.otherImageKey].map((key) => getImages(service, key)))
  const { body: tagged } = await new ImageClient(service.url, keys.imageKey).list({ tag: 'ñ "4"' })
  assert.equal(tagged['total'], 1)
  const { body: aliases } = await call(service, '/api/v1/imagestore/aliases', {
    query: { api: keys.imageKey },
  })
  assert.partialDeepStrictEqual(aliases, { data: [{ name: 'portada' }] })
  const { body: bans } = await call(service, '/api/v1/imagestore/bans', { query: { api: keys.imageKey } })
  assert.partialDeepStrictEqual(bans, { data: [{ dhash: '00000000000000ff' }] })
  const client = new ImageClient(service.url, keys.imageKey)
  assert.partialDeepStrictEqual((await client.list({ trash: '1' })).body, { data: [{ name: 'Ñ 2' }] })
  const derived = await client.link(`${expectedHash(await picture('foto 3'))}&m=ficha`)
  assert.equal((await bytesOf(derived)).length > 0 && derived.status, 200)
  const discarded = await walk({ ...service, domainKey: keys.domainKey }, { dis: '' })
  const numbers = await walk(
    { ...service, domainKey: keys.domainKey },
    { num_volumen_min: '-9', order: 'num_volumen' },
  )
  assert.equal(numbers.length, 2)
  const { body: dismissed } = await call(service, '/api/v1/domainwatch/dismissed', {
    query: { api: keys.domainKey },
  })
  assert.equal(Object(dismissed).count, 1)
  const { body: rules } = await call(service, '/api/v1/domainwatch/rules', { query: { api: keys.domainKey } })
  assert.equal(Object(rules).count, 1)
  const accounts = (await service.app.context.accounts.keys()).map(
    ({ account, service, scope, expiresAt, rate }) =>
      `${service} ${account} ${JSON.stringify([scope, expiresAt, rate])}`,
  )
  const uploader = new ImageClient(service.url, keys.uploadKey)
  const uploaded = await Promise.all(
    ['foto 4', 'foto 5'].map(async (text) => (await uploader.get(expectedHash(await picture(text)))).status),
  )
  assert.deepEqual(uploaded, [404, 200])
  const histories = await Promise.all(
    ['nombre1', 'nombre2', 'nombre4', 'ñandú', 'año'].map((name) =>
      getHistory(service, name, keys.domainKey),
    ),
  )
  return {
    domains,
    numbers,
    discarded,
    dismissed,
    rules,
    images,
    accounts: [...new Set(accounts)],
    histories,
  }
}

/** What happened to a domain: never nothing, of those that are looked at. */
async function getHistory(service: TestService, domain: string, api: string): Promise<unknown> {
  const { status, body } = await call(service, '/api/v1/domainwatch/history', { query: { api, domain } })
  assert.equal(status, 200)
  assert.ok(typeof body === 'object' && body !== null && 'count' in body && Number(body.count) > 0, domain)
  return body
}

/** An application's images without their addresses, which are those of the instance; their bytes are compared with the hash that names them. */
export async function getImages(service: Pick<TestService, 'url'>, key: string) {
  const client = new ImageClient(service.url, key)
  const { status, body } = await client.list({ limit: '1000' })
  assert.equal(status, 200)
  const listed = body['data']
  assert.ok(Array.isArray(listed))
  const rows: unknown[] = listed.flat()
  const images: unknown[] = []
  for (const row of rows) {
    assert.ok(typeof row === 'object' && row !== null && 'hash' in row && 'link' in row)
    const { link: _, ...image } = row
    images.push(image)
    const link = await client.link(String(row.hash))
    assert.equal(link.status, 200, `the bytes of ${row.hash}`)
    assert.equal(expectedHash(await bytesOf(link)), row.hash)
  }
  return images
}

/** Adds records one call after the other until it is stopped. @returns how many were acknowledged */
export function keepWriting(service: TestService): { readonly stop: () => Promise<number> } {
  let stopped = false
  let count = 0
  const writing = (async () => {
    while (!stopped) {
      const data = [record(`escrito${count}`)]
      assert.equal((await send(service, ADD, { data }, { query: { api: service.domainKey } })).status, 200)
      count++
    }
  })()
  return {
    async stop() {
      stopped = true
      await writing
      return count
    },
  }
}
