/** What docs/operations/caches.md has of caches that the tests cannot run. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { expectedHash, ImageClient, noise } from '../support/images.ts'
import { startService } from '../support/service.ts'

const page = await readFile(new URL('../../docs/operations/caches.md', import.meta.url), 'utf8')

test('the function for CloudFront distinguishes three classes of clients', () => {
  const [, code = ''] = /```js\n(.+?)```/s.exec(page) ?? []
  for (const [accept, expected] of [
    ['image/avif,image/webp,*/*;q=0.8', 'image/avif,image/webp'],
    ['image/avif', 'image/avif,image/webp'],
    ['image/webp,*/*', 'image/webp'],
    ['image/png,*/*', '*/*'],
    [undefined, '*/*'],
  ]) {
    const event = { request: { headers: accept === undefined ? {} : { accept: { value: accept } } } }
    const sent: unknown = runInNewContext(`${code}handler(event)`, { event })
    assert.equal(JSON.stringify(sent), JSON.stringify({ headers: { accept: { value: expected } } }))
  }
})

test('the rewritten queries for Cloudflare change nothing', async () => {
  await using service = await startService()
  const client = new ImageClient(service.url, service.imageKey)
  const bytes = await noise(60, 40).png().toBuffer()
  assert.equal((await client.upload(bytes)).status, 200)
  const hash = expectedHash(bytes)
  const appended = [...page.matchAll(/concat\(http\.request\.uri\.query, "(.+?)"\)/g)].map(([, text]) => text)
  assert.equal(appended.length, 2)
  for (const link of [`${hash}&m=w_20,f_auto?`, `${hash}?m=w_20,f_auto`]) {
    const headers = { accept: 'image/webp' }
    const etag = (await client.link(link, { headers })).headers.get('etag')
    for (const text of appended) {
      const response = await client.link(`${link}${text}`, { headers })
      assert.deepEqual([response.status, response.headers.get('etag')], [200, etag], text)
    }
  }
})
