/** Browsers that forbid storage, and browsers whose tabs share it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainRow } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(service, [record('casa'), record('casa-azul'), record('faro')])
const FORBIDDEN = `for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
  Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError') } })`

const views = (page: Page) => page.getByRole('navigation').getByRole('link', { name: /Mis/ })

async function enter(page: Page, key: string, isRemembered: boolean): Promise<void> {
  await page.getByLabel('Clave de API').fill(key)
  await page.getByLabel('Recordarme en este equipo').setChecked(isRemembered)
  await page.getByRole('button', { name: 'Entrar' }).click()
}

async function saveView(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Guardar esta vista' }).click()
  await page.getByLabel('Nombre').fill(name)
  await page.getByRole('button', { name: 'Guardar vista' }).click()
}

test('the console works in a browser that forbids storage, and says that it cannot keep the key', async () => {
  const { page, context, complaints } = await browser.open(service, '', {})
  await page.addInitScript(FORBIDDEN)
  await page.goto(`${service.url}/console/dominios?search=casa`)
  await enter(page, service.domainKey, true)
  await page.getByText(/El navegador no deja guardarla/).waitFor()
  await domainRow(page, 'casa-azul').waitFor()
  // Views are the service's.
  await saveView(page, 'Mis sitios')
  await views(page).filter({ hasText: 'Mis sitios' }).waitFor()
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Quitar la vista guardada' }).click()
  await views(page).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Importar' }).click()
  await page.locator('input[type=file]').setInputFiles({
    name: 'lista.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('luna.cl,2026-01-12 10:00:00\n'),
  })
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  await page.getByText('Importación terminada', { exact: false }).waitFor()
  assert.equal((await records(service, { search: 'luna' })).length, 1)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a view that was saved in one tab is shown in the others, which do not overwrite it', async () => {
  const { page, context } = await browser.open(service, 'dominios?search=casa', {
    domainwatch: service.domainKey,
  })
  const other = await context.newPage()
  await other.goto(`${service.url}/console/dominios?search=faro`)
  await domainRow(other, 'faro').waitFor()
  await domainRow(page, 'casa').waitFor()
  await saveView(page, 'Mis casas')
  await views(other).filter({ hasText: 'Mis casas' }).waitFor()
  await saveView(other, 'Mis faros')
  await page.reload()
  await views(page).nth(1).waitFor()
  assert.deepEqual(await views(page).locator('.ellipsis').allInnerTexts(), ['Mis casas', 'Mis faros'])
  await context.close()
})

test('a remembered key replaces that of the tab, and a sign-out ends the session of every tab', async () => {
  const { page, context } = await browser.open(service, 'dominios', {})
  await enter(page, service.domainKey, false)
  await domainRow(page, 'casa').waitFor()
  const { key: newer } = await service.newKey('grupo', 'domainwatch')
  await page.getByRole('button', { name: /^Mi sesión/ }).click()
  await page.getByRole('button', { name: 'Agregar una clave' }).click()
  await enter(page, newer, true)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.reload()
  await domainRow(page, 'casa').waitFor()
  assert.deepEqual(
    await page.evaluate('[localStorage, sessionStorage].map((one) => one.getItem("catalejo.keys"))'),
    [JSON.stringify({ domainwatch: newer }), '{}'],
  )
  const other = await context.newPage()
  await other.goto(`${service.url}/console/dominios`)
  await domainRow(other, 'casa').waitFor()
  await page.getByRole('button', { name: /^Mi sesión/ }).click()
  await page.getByRole('button', { name: 'Salir' }).click()
  await other.getByLabel('Clave de API').waitFor()
  await context.close()
})
