import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { record, stored } from '../support/domains.ts'
import { call, send, type Fields } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { claim } from '../support/queue.ts'
import { ManualClock, startService } from '../support/service.ts'

const DAY = 86_400_000
const clock = new ManualClock('2026-01-05T13:20:30Z')
const service = await startService({ clock })
after(() => service[Symbol.asyncDispose]())
const admin = await service.newKey('dueña', 'admin')

const post = (path: string, fields: Fields, api: string, method?: 'DELETE') =>
  send(service, `/api/v1/${path}`, fields, { query: { api }, ...(method && { method }) })

async function page(query: Fields = {}) {
  const { body, headers } = await call(service, '/api/v1/admin/audit', {
    query: { api: admin.key, ...query },
  })
  const next = /cursor=([^&>]+)/.exec(headers.get('link') ?? '')?.[1]
  return { entries: Object(body).data as Fields[], next: next && decodeURIComponent(next) }
}

/** What was recorded since the last call, without times, oldest first. */
let seen = 0
async function recorded(): Promise<unknown[]> {
  const { entries } = await page()
  const fresh = entries.slice(0, entries.length - seen).toReversed()
  seen = entries.length
  return fresh.map(({ account, key, action, subject }) => [account, key, action, subject])
}

test('changes of keys, limits and claims are recorded, and those that fail are not', async () => {
  const made = Object(
    (await post('admin/create', { account: ' Ana Ñ ', service: 'domainwatch' }, admin.key)).body,
  )
  await post('admin/create', { account: 'Ana Ñ', service: 'imagestore' }, admin.key)
  await post('admin/revoke', { id: made.id }, admin.key)
  await post('admin/revoke', { id: made.id }, admin.key)
  await post('admin/revoke', { id: 'none' }, admin.key)
  await post('admin/limits', { account: 'fotos', max_images: '9' }, admin.key)
  await post('admin/limits', { account: 'nadie', max_images: '9' }, admin.key)
  await stored(service, [record('casa')])
  await claim(service, service.domainKey)
  await post('admin/release', { account: 'grupo' }, admin.key)
  const limits = '{"max_images":9,"max_bytes":null,"delivery":"open"}'
  assert.deepEqual(await recorded(), [
    ['dueña', admin.id, 'key.create', `Ana Ñ (domainwatch), key ${made.id}`],
    ['dueña', admin.id, 'key.revoke', made.id],
    ['dueña', admin.id, 'limits.set', `fotos ${limits}`],
    ['dueña', admin.id, 'claims.release', 'grupo'],
  ])
})

test('rules, bulk changes and deletions are recorded under their accounts', async () => {
  const member = await service.newKey('ana', 'domainwatch')
  const rule = { name: 'Con número', action: 'hide', digits: '1' }
  const { id } = Object((await post('domainwatch/rules', rule, member.key)).body)
  await post('domainwatch/rules/update', { id, paused: '1' }, member.key)
  await post('domainwatch/rules', { id }, member.key, 'DELETE')
  await post('domainwatch/rules', { id }, member.key, 'DELETE')
  const bulk = Object(
    (await post('domainwatch/bulk', { search: 'casa', set: '{"seen":1}' }, member.key)).body,
  )
  const watch = Object((await post('domainwatch/watches', { name: 'a', atom: '1' }, member.key)).body)
  await post('domainwatch/watches', { id: watch.id }, member.key, 'DELETE')
  await post('domainwatch/dismissed', { data: '["una","dos"]' }, member.key, 'DELETE')
  assert.deepEqual(await recorded(), [
    ['ana', member.id, 'rule.create', `${id} Con número`],
    ['ana', member.id, 'rule.update', id],
    ['ana', member.id, 'rule.delete', id],
    ['ana', member.id, 'bulk.start', `${bulk.id} {"matched":1,"set":{"seen":1}}`],
    ['ana', member.id, 'watch.delete', watch.id],
    ['ana', member.id, 'dismissed.forget', 'una dos'],
  ])
  const images = new ImageClient(service.url, service.imageKey)
  const { body } = await images.upload(await gradient(8, 8).png().toBuffer())
  const { hash } = Object(body)
  for (const restore of ['0', '1'])
    await fetch(images.endpoint('trash', { hash, restore }), { method: 'POST' })
  await images.remove(hash)
  await images.remove(hash)
  assert.deepEqual(
    (await recorded()).map((entry) => Object(entry).slice(2)),
    ['image.trash', 'image.restore', 'image.delete'].map((action) => [action, hash]),
  )
})

test('entries are listed the latest first, in pages, and by account', async () => {
  const all = (await page()).entries
  const paged = []
  let cursor: string | undefined
  do {
    const { entries, next } = await page({ limit: 4, ...(cursor && { cursor }) })
    paged.push(...entries)
    cursor = next
  } while (cursor !== undefined)
  assert.deepEqual(paged, all)
  const ofAna = all.filter(({ account }) => account === 'ana')
  assert.equal(ofAna.length, 6)
  assert.deepEqual((await page({ account: 'ana' })).entries, ofAna)
  const { body } = await call(service, '/api/v1/admin/audit', { query: { api: admin.key, cursor: 'x' } })
  assert.equal(Object(body).status, 400)
})

test('an entry is removed after a year, and by nothing else', async () => {
  const { audit } = service.app.context
  const count = (await page()).entries.length
  clock.advance(364 * DAY)
  assert.equal((await page()).entries.length, count)
  for (const method of ['POST', 'DELETE'] as const) {
    const { status } = await call(service, '/api/v1/admin/audit', { query: { api: admin.key }, method })
    assert.equal(status, 405)
  }
  clock.advance(2 * DAY)
  await audit.sweep(new AbortController().signal)
  assert.deepEqual((await page()).entries, [])
})
