import assert from 'node:assert/strict'
import { test } from 'node:test'
import { call } from '../support/http.ts'
import { startService } from '../support/service.ts'

/** As browsers send it when a person opens an address. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

for (const [path, flags] of [
  ['', {}],
  ['/catalejo', { 'base-url': 'https://example.cl/catalejo' }],
] as const) {
  test(`${path}/ sends browsers to the console and tells programs where it is`, async () => {
    await using service = await startService({ flags })
    const address = service.app.server.server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
    const base = path === '' ? service.app.baseUrl : flags['base-url']
    for (const home of path === '' ? ['/'] : [path, `${path}/`]) {
      const browser = await fetch(`${url}${home}`, { headers: { accept: BROWSER }, redirect: 'manual' })
      assert.deepEqual(
        [browser.status, browser.headers.get('location'), browser.headers.get('vary')],
        [302, `${path}/console/`, 'Accept'],
      )
      for (const accept of ['*/*', 'application/json']) {
        const { body, headers } = await call({ url }, home, { headers: { accept } })
        assert.deepEqual(body, {
          status: 200,
          console: `${base}/console/`,
          docs: `${base}/docs`,
          openapi: `${base}/openapi.json`,
        })
        assert.equal(headers.get('vary'), 'Accept')
      }
    }
    const { body: document } = await call({ url }, `${path}/openapi.json`)
    assert.deepEqual(Object(document)['servers'], [{ url: new URL(base).origin }])
    const page = await fetch(`${url}${path}/`, { headers: { accept: BROWSER } })
    assert.deepEqual(
      [page.url, page.headers.get('content-type')],
      [`${url}${path}/console/`, 'text/html; charset=utf-8'],
    )
  })
}
