import { httpErrors } from '../../src/http/errors.ts'
import { errorResponse } from '../support/gate.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ManualClock, startService, type TestService } from '../support/service.ts'

const EXPORT = '**/domainwatch/export?*'
const clock = new ManualClock('2026-01-05T13:20:30Z')
let service: TestService
let browser: TestBrowser

before(async () => {
  ;[service, browser] = await Promise.all([startService({ clock }), startBrowser()])
  await stored(service, [record('primero'), record('segundo'), record('tercero')])
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })

/** Waits until the table shows how long a record can be restored. */
const timeLeft = (page: Page, name: string) =>
  page
    .getByRole('row')
    .filter({ hasText: `${name}.cl` })
    .getByText(/Descartado, quedan/)
    .waitFor({ state: 'attached' })

test('the time left is shown although the response fails, is cut or omits a record', async () => {
  await update(service, [{ domain: 'primero', discarded: 1 }])
  for (const trouble of [
    errorResponse(httpErrors.internal_error()),
    { status: 200, body: '' },
    'connectionreset',
  ] as const) {
    const { page, context, complaints } = await open('')
    let asked = 0
    await page.route(EXPORT, (route) => {
      asked++
      if (asked > 1) return route.continue()
      return typeof trouble === 'string' ? route.abort(trouble) : route.fulfill(trouble)
    })
    await page.getByRole('link', { name: 'Dominios', exact: true }).click()
    await timeLeft(page, 'primero')
    assert.ok(asked > 1)
    assert.deepEqual(complaints, [])
    await context.close()
  }
})

test('names discarded by someone else show their time left, too', async () => {
  await update(service, [{ domain: 'primero', discarded: 1 }])
  const { page, context, complaints } = await open('dominios')
  await timeLeft(page, 'primero')
  await page.getByText('En vivo').waitFor()
  await update(service, [{ domain: 'segundo', discarded: 1 }])
  await timeLeft(page, 'segundo')
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a response that never arrives times out and is requested again', async () => {
  await update(service, [{ domain: 'primero', discarded: 1 }])
  const { page, context, complaints } = await open('')
  const { promise: silent, resolve } = Promise.withResolvers<void>()
  let asked = 0
  await page.route(EXPORT, (route) => (++asked === 1 ? resolve() : route.continue()))
  await page.clock.install()
  await page.getByRole('link', { name: 'Dominios', exact: true }).click()
  await silent
  await page.clock.fastForward('03:00')
  await timeLeft(page, 'primero')
  assert.deepEqual(complaints, [])
  await context.close()
})
