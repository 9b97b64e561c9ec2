import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accessibilityViolations, startBrowser, type TestBrowser } from '../support/browser.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser
let admin: string

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  admin = (await service.newKey('dueña', 'admin')).key
  const limits = {
    scope: 'upload',
    expiresAt: Date.now() + 86_400_000,
    rate: { count: 1_000_000, periodMs: 60_000 },
  } as const
  await service.newKey('una aplicación de nombre bastante largo', 'imagestore', limits)
  await service.newKey('w'.repeat(64), 'imagestore', limits)
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

/** Phones, windows of 1440 and 1280 pixels at 200 %, and at their size. */
for (const width of [360, 390, 640, 720, 1_024, 1_280, 1_366, 1_440]) {
  test(`no button of the keys is off-screen at ${width} pixels`, async () => {
    const { page, context, complaints } = await browser.open(service, 'claves', { admin }, { width })
    await page
      .getByRole('row', { name: /Solo subir imágenes/ })
      .first()
      .waitFor()
    // The accounts are read on their own.
    await page.getByRole('rowheader', { name: 'una aplicación de nombre bastante largo' }).waitFor()
    for (const button of await page.locator('main').getByRole('button').all()) {
      const box = await button.boundingBox()
      assert.ok(box !== null && box.x >= 0 && box.x + box.width <= width, JSON.stringify(box))
      assert.ok(box.height >= 24)
    }
    const overflow = `[...document.querySelectorAll('main .scroll-x')].map((one) => one.scrollWidth - one.clientWidth)`
    assert.deepEqual(await page.evaluate(overflow), [0, 0])
    assert.deepEqual(await accessibilityViolations(page), [])
    assert.deepEqual(complaints, [])
    await context.close()
  })
}
