/** How the console and the API reference are served. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '../support/http.ts'
import { RawConnection } from '../support/raw.ts'
import { startService } from '../support/service.ts'
import { startConsole } from '../support/console.ts'

const { service, browser } = await startConsole()

/** What the page loads before anything is done with it: all that its HTML names. */
async function firstFiles(): Promise<{ html: string; files: string[] }> {
  const { text } = await call(service, '/console/')
  const files = [...text.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file ?? '')
  return { html: text, files }
}

test('the page has a strict policy, and its files are immutable', async () => {
  const page = await call(service, '/console/')
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(page.headers.get('cache-control'), 'no-cache')
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
  const policy = page.headers.get('content-security-policy') ?? ''
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.doesNotMatch(policy, /unsafe|https?:|\*/)
  assert.doesNotMatch(page.text, /<script(?![^>]*\ssrc=)[^>]*>|\son\w+=|style=/)

  const { files } = await firstFiles()
  assert.ok(files.some((file) => file.endsWith('.js')) && files.some((file) => file.endsWith('.css')))
  for (const file of files) {
    const found = await call(service, `/console/${file}`)
    assert.equal(found.status, 200, file)
    assert.equal(found.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.match(file, /-[\w-]{8}\.\w+$/, 'its name carries its content')
  }
})

test('texts are compressed by the best encoding of the client, with equal content', async () => {
  const { files } = await firstFiles()
  const script = files.find((file) => file.endsWith('.js')) ?? ''
  const as = (encoding: string) =>
    call(service, `/console/${script}`, { headers: { 'accept-encoding': encoding } })
  const [br, gzip, identity, refused] = [
    await as('gzip, br'),
    await as('gzip'),
    await as('identity'),
    await as('br;q=0, gzip;q=0'),
  ]
  assert.equal(br.headers.get('content-encoding'), 'br')
  assert.equal(gzip.headers.get('content-encoding'), 'gzip')
  assert.equal(identity.headers.get('content-encoding'), null)
  assert.equal(refused.headers.get('content-encoding'), null)
  assert.equal(new Set([br.text, gzip.text, identity.text, refused.text]).size, 1)
  assert.equal(new Set([br, gzip, identity].map(({ headers }) => headers.get('etag'))).size, 3)
  assert.ok(Number(br.headers.get('content-length')) < Number(gzip.headers.get('content-length')))
  assert.ok(Number(gzip.headers.get('content-length')) < Number(identity.headers.get('content-length')))
  assert.equal(br.headers.get('vary'), 'Accept-Encoding')

  const etag = br.headers.get('etag') ?? ''
  const again = await call(service, `/console/${script}`, {
    headers: { 'accept-encoding': 'br', 'if-none-match': etag },
  })
  assert.equal(again.status, 304)
  assert.equal(again.text, '')
  const head = await call(service, `/console/${script}`, {
    method: 'HEAD',
    headers: { 'accept-encoding': 'br' },
  })
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  assert.equal(head.headers.get('content-length'), br.headers.get('content-length'))
})

// What most screens share is in its files, so that a screen needs few more. 149 KB in November 2026.
test('the page loads at most 150 KB, fonts included', async () => {
  const { files } = await firstFiles()
  const sizes = new Map<string, number>()
  const add = async (file: string) => {
    const { headers, text } = await call(service, `/console/${file}`, {
      headers: { 'accept-encoding': 'br' },
    })
    sizes.set(file, Number(headers.get('content-length')))
    return text
  }
  for (const file of ['', ...files]) {
    const text = await add(file)
    for (const [, font = ''] of text.matchAll(/url\(\.\/([^)]+\.woff2)\)/g)) await add(`assets/${font}`)
  }
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  assert.ok(
    [...sizes.keys()].some((file) => file.endsWith('.woff2')),
    [...sizes.keys()].join(),
  )
  assert.ok(total <= 150_000, `${total} bytes: ${JSON.stringify([...sizes])}`)
})

test('every path of the console returns its page, and no other file is accessible', async () => {
  const { html } = await firstFiles()
  assert.equal((await call(service, '/console/dominios?search=casa')).text, html)
  assert.equal((await call(service, '/console/no/such/place')).text, html)
  const bare = await fetch(`${service.url}/console?x=1`, { redirect: 'manual' })
  assert.equal(bare.status, 308)
  assert.equal(bare.headers.get('location'), '/console/?x=1')
  assert.deepEqual((await call(service, '/console/assets/gone-12345678.js')).body, {
    status: 404,
    msg: 'La dirección no existe',
  })
  const posted = await call(service, '/console/', { method: 'POST', body: '' })
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
  // Names are looked up among those that there are: what climbs is an address of the page, or no file.
  const connection = await RawConnection.open(service)
  for (const path of [
    '/console/../package.json',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/%2e%2e/%2e%2e/package.json',
    '/console/index.html.br',
  ]) {
    connection.send(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const reply = await connection.reply()
    assert.doesNotMatch(reply?.body ?? '', /devDependencies/, path)
    assert.ok(reply?.status === 404 || reply?.body === html, path)
  }
  connection.close()
})

test('the page contains the path prefix and the time zone of the service', async () => {
  await using service = await startService({
    flags: { 'base-url': 'https://example.cl/catalejo', 'time-zone': 'Pacific/Easter' },
  })
  const address = service.app.server.server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const { text, status } = await call({ url }, '/catalejo/console/imagenes')
  assert.equal(status, 200)
  assert.match(text, /<base href="\/catalejo\/console\/"/)
  assert.match(text, /name="catalejo-time-zone" content="Pacific\/Easter"/)
  const bare = await fetch(`${url}/catalejo/console`, { redirect: 'manual' })
  assert.equal(bare.headers.get('location'), '/catalejo/console/')
})

test('the reference lists all operations and tries one, without a request to anyone else', async () => {
  const { page } = await browser.open(service, '../docs', {})
  for (const service of ['domainwatch', 'imagestore', 'admin', 'service'])
    await page.locator(`.opblock-tag[data-tag="${service}"]`).waitFor()
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(service.domainKey)
  await page.locator('.auth-container .authorize').click()
  await page.locator('.auth-container .btn-done').click()
  await page.locator('.opblock-tag[data-tag="domainwatch"]').click()
  const operation = page.locator('.opblock').filter({ hasText: '/api/v1/domainwatch/stats' }).first()
  await operation.locator('.opblock-summary-control').click()
  await operation.getByRole('button', { name: 'Try it out' }).click()
  await operation.getByRole('button', { name: 'Execute' }).click()
  await operation.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor()
})
