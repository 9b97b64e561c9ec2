/** Views that are kept under a name: their counts, and what is new since they were last open. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible, domainRow } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casa-azul', 'faro', 'sol'].map((name) => record(name, { status: 0 })),
)
const open = (path: string, keys: Readonly<Record<string, string>> = { domainwatch: service.domainKey }) =>
  browser.open(service, path, keys)
const views = (page: Page) => page.getByRole('navigation').getByRole('listitem').filter({ hasText: /casas/ })

test('a view is saved by name, counted in the side bar, opened there, and removed', async () => {
  const { page, context, complaints } = await open('dominios?search=casa')
  await domainRow(page, 'casa-azul').waitFor()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Guardar esta vista' }).click()
  // A name is suggested; what is typed takes its place.
  assert.equal(await page.getByLabel('Nombre').getAttribute('placeholder'), 'casa')
  await page.getByLabel('Nombre').press('End')
  await page.keyboard.type('Mis casas')
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await page.getByText('Vista guardada: Mis casas').waitFor()
  await views(page).getByText('2', { exact: true }).waitFor()
  assert.equal(await views(page).getByRole('link').getAttribute('aria-current'), 'page')
  // They come right after the screens of their service.
  const groups = page.getByRole('navigation').getByRole('heading')
  assert.deepEqual(await groups.allInnerTexts(), ['Dominios .cl', 'Vistas guardadas', 'Imágenes', 'Servicio'])

  await page.reload()
  await views(page).waitFor()
  await page.getByRole('link', { name: 'Inicio' }).click()
  await views(page).getByRole('link').click()
  await domainRow(page, 'casa-azul').waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'casa')
  await assertAccessible(page)
  await page.setViewportSize({ width: 1_440, height: 900 })
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Quitar la vista guardada' }).click()
  await views(page).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await context.close()
})

test('changes in a view since it was last opened are counted next to it', async () => {
  const { page, context } = await open('dominios?search=casa')
  await domainRow(page, 'casa-azul').waitFor()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Guardar esta vista' }).click()
  await page.getByLabel('Nombre').fill('Mis casas')
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await views(page).waitFor()
  await page.getByRole('link', { name: 'Inicio' }).click()
  await update(service, [{ domain: 'casa', revision: 1 }])
  await page.reload()
  await views(page).getByText('1 cambio desde su última visita').waitFor({ state: 'attached' })
  await views(page).getByRole('link').click()
  await domainRow(page, 'casa-azul').waitFor()
  await page.getByText('1 cambio desde su última visita').waitFor({ state: 'detached' })
  await context.close()
})
