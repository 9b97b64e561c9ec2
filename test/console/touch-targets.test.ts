import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { ImageClient, noise } from '../support/images.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser

before(async () => {
  ;[service, browser] = await Promise.all([
    startService({ flags: { 'dns-servers': '127.0.0.1:9' } }),
    startBrowser(),
  ])
  await stored(
    service,
    ['banco', 'bancos', 'casa-banco'].map((name) => record(name)),
  )
  await update(service, [{ domain: 'bancos', revision: 1 }])
  const client = new ImageClient(service.url, service.imageKey)
  await client.upload(await noise(60, 40).png().toBuffer(), { name: 'foto.png' })
})

after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

/** What can be pressed and is lower or narrower than 24 pixels; a box counts with the label around it. */
async function small(page: Page): Promise<unknown> {
  // The page follows the width of the screen in the next frame.
  await page.evaluate('new Promise((draw) => requestAnimationFrame(() => requestAnimationFrame(draw)))')
  return page.evaluate(`[...document.querySelectorAll(
      'main :is(a, button, input, select, summary), [role=gridcell].pick, .toasts button, dialog :is(a, button, input, select)')]
    .map((element) => [element, (element.closest('label') ?? element).getBoundingClientRect()])
    .filter(([, { width, height }]) => width > 1 && (width < 24 || height < 24))
    .map(([{ outerHTML }, { width, height }]) => width + ' × ' + height + ' ' + outerHTML.slice(0, 120))`)
}

const SCREENS = [
  ['the table', 'dominios', async (page: Page) => page.locator('.table-row .pick').first().click()],
  [
    'its menu',
    'dominios',
    async (page: Page) => page.getByRole('button', { name: 'Más', exact: true }).click(),
  ],
  [
    'the filters',
    'dominios',
    async (page: Page) => {
      await page.getByRole('button', { name: 'Más filtros' }).click()
      await page.getByRole('dialog', { name: 'Filtros' }).waitFor()
    },
  ],
  ['details', 'dominios?ficha=banco', async (page: Page) => page.locator('.lookalikes a').first().waitFor()],
  [
    'triage',
    'triaje?status=1',
    async (page: Page) => {
      await page.locator('.triage-name').waitFor()
      await page.keyboard.press('r')
      await page.locator('.toast').first().waitFor()
    },
  ],
  [
    'the gallery',
    'imagenes',
    async (page: Page) => page.getByLabel('Seleccionar foto.png', { exact: true }).click(),
  ],
] as const

for (const [name, path, prepare] of SCREENS) {
  test(`${name}: no control is smaller than 24 pixels, on a phone or a wide screen`, async () => {
    const keys = { domainwatch: service.domainKey, imagestore: service.imageKey }
    const { page, context } = await browser.open(service, path, keys)
    await prepare(page)
    assert.deepEqual(await small(page), [])
    await page.setViewportSize({ width: 390, height: 844 })
    assert.deepEqual(await small(page), [], '390 pixels')
    await context.close()
  })
}
