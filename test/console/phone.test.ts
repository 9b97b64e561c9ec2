/** The room that a phone gives to rows and to the name to decide about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { domainGrid } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'

const HEIGHT = 844
const NAMES = Array.from({ length: 30 }, (_, i) => `libre${i}`)
const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
await stored(
  service,
  NAMES.map((name) => record(name, { status: 0 })),
)

const open = (path: string) => {
  const keys = { domainwatch: service.domainKey }
  return browser.open(service, path, keys, { width: 390, height: HEIGHT, touch: true })
}
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })

async function getBox(locator: Locator) {
  const box = await locator.boundingBox()
  assert.ok(box !== null)
  return box
}

test('news of decisions leaves the whole card free, and touches go through it', async () => {
  const { page } = await open('triaje')
  const review = page.locator('.triage-keys').getByRole('button', { name: 'Revisión' })
  for (let i = 0; i < 3; i++) {
    const name = await page.locator('.triage-name').innerText()
    await review.click()
    await toast(page, `1 dominio en revisión: ${name.trim()}`).waitFor()
  }
  const news = await getBox(page.locator('.toasts'))
  assert.ok(news.y + news.height <= (await getBox(page.locator('.triage-card'))).y)
  assert.equal(await page.locator('.toast:visible').count(), 1)
  await page.getByRole('button', { name: 'Menú' }).click()
  await page.getByRole('navigation').getByRole('link', { name: 'Inicio' }).waitFor()
})

test('rows take most of the screen: filters and chart open on request, and the actions on a selection are two lines', async () => {
  const { page } = await open('dominios')
  const pick = (index: number) => domainGrid(page).locator(`#row-${index} .pick`)
  await pick(0).waitFor()
  assert.ok((await getBox(domainGrid(page))).height >= HEIGHT * 0.75)
  const free = page.getByRole('button', { name: /^Libre/ })
  assert.equal(await free.count(), 0)
  await page.getByRole('button', { name: 'Filtros', expanded: false }).click()
  await free.click()
  await page.waitForURL(/status=0/)
  await page.getByRole('slider').waitFor()
  await page.getByRole('button', { name: 'Filtros', expanded: true }).click()
  await free.waitFor({ state: 'detached' })

  await pick(0).click()
  await pick(1).click()
  const bar = page.getByRole('region', { name: '2 seleccionados' })
  await bar.getByRole('button', { name: 'Marcar para revisión' }).waitFor()
  assert.ok((await getBox(bar)).height <= HEIGHT * 0.13)
  await bar.getByRole('button', { name: 'Descartar' }).click()
  await toast(page, '2 dominios descartados').waitFor()
})
