/** Keys and their sessions: the next person, other tabs, browsers that forbid storage, and keys that may not do everything. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { record, records, stored, LIST } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'
import {
  domainRow,
  accessibilityViolations,
  openScreen,
  chooseMore,
  enterKey,
  signOut,
  toast,
  showsTexts,
} from '../support/browser.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { call } from '../support/http.ts'
import { limited } from '../support/key-limits.ts'
import { createWatch } from '../support/watches.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casa-azul', 'faro', 'perro'].map((name) => record(name)),
)
const otherKey = (await service.newKey('otra', 'domainwatch')).key
for (const key of [service.domainKey, otherKey]) {
  await stored(service, [record('bravo', { date_reg: '2026-02-01 00:00:00' })], { key })
  await stored(service, [record('alfa', { date_reg: '2026-02-02 00:00:00' })], { key })
}

test('a sign-out with marks in progress asks before, and the next user neither sends nor sees them', async () => {
  const { page } = await browser.open(service, 'dominios', {
    domainwatch: service.domainKey,
  })
  await domainRow(page, 'alfa').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  const senders: (string | null)[] = []
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (url.pathname.endsWith('/domainwatch/update')) senders.push(url.searchParams.get('api'))
  })
  await page.getByRole('grid', { name: 'Dominios' }).focus()
  await page.keyboard.press('d')
  await gate.next()
  // Waits for the one before.
  await page.keyboard.press('r')
  await domainRow(page, 'alfa').getByText('Revisión').waitFor()

  await signOut(page)
  const dialog = page.getByRole('dialog', { name: '¿Salir y perder lo que falta?' })
  await dialog.getByRole('button', { name: 'Salir igual' }).click()
  await enterKey(page, otherKey)
  await domainRow(page, 'alfa').waitFor()
  assert.equal(await domainRow(page, 'alfa').getByText('Descartado').count(), 0)
  await page.keyboard.press('z')
  await toast(page, 'No hay nada que deshacer').waitFor()
  assert.deepEqual(senders, [service.domainKey])
  for (const key of [service.domainKey, otherKey]) {
    const [found] = await records(service, { search: 'alfa', api: key })
    assert.deepEqual([found?.revision, found?.discarded], [0, 0])
  }
})

test('two clicks on one row are one history entry', async () => {
  const { page } = await browser.open(service, 'dominios', { domainwatch: service.domainKey })
  const grid = page.getByRole('grid', { name: 'Dominios' })
  await grid.getByText('bravo.cl', { exact: true }).dblclick()
  const sheet = page.getByRole('complementary', { name: 'Detalles de bravo.cl' })
  await sheet.waitFor()
  await page.goBack()
  await sheet.waitFor({ state: 'detached' })
})

const FORBIDDEN = `for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
  Object.defineProperty(window, name, { get() { throw new DOMException('', 'SecurityError') } })`

const views = (page: Page) => page.getByRole('navigation').getByRole('link', { name: /Mis/ })

async function enter(page: Page, key: string, isRemembered: boolean): Promise<void> {
  await page.getByLabel('Clave de API').fill(key)
  await page.getByLabel('Recordarme en este equipo').setChecked(isRemembered)
  await page.getByRole('button', { name: 'Entrar' }).click()
}

async function saveView(page: Page, name: string): Promise<void> {
  await chooseMore(page, 'Guardar esta vista')
  await page.getByLabel('Nombre').fill(name)
  await page.getByRole('button', { name: 'Guardar vista' }).click()
}

test('the console works in a browser that forbids storage, and says that it cannot keep the key', async () => {
  const { page } = await browser.open(service, '', {})
  await page.addInitScript(FORBIDDEN)
  await page.goto(`${service.url}/console/dominios?search=casa`)
  await enter(page, service.domainKey, true)
  await page.getByText(/El navegador no deja guardarla/).waitFor()
  await domainRow(page, 'casa-azul').waitFor()
  // Views are the service's.
  await saveView(page, 'Mis sitios')
  await views(page).filter({ hasText: 'Mis sitios' }).waitFor()
  await chooseMore(page, 'Quitar la vista guardada')
  await views(page).waitFor({ state: 'detached' })
  await openScreen(page, 'Importar')
  await page.locator('input[type=file]').setInputFiles({
    name: 'lista.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('luna.cl,2026-01-12 10:00:00\n'),
  })
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  await page.getByText('Importación terminada', { exact: false }).waitFor()
  assert.equal((await records(service, { search: 'luna' })).length, 1)
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
  await showsTexts(views(page).locator('.ellipsis'), ['Mis casas', 'Mis faros'])
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
  await signOut(page)
  await other.getByLabel('Clave de API').waitFor()
})

await createWatch(service, { name: 'Cortos', max_length: 4, atom: '' })
const client = new ImageClient(service.url, service.imageKey)
assert.equal((await client.upload(await gradient(40, 30).png().toBuffer())).status, 200)
const READ_ONLY = 'Su clave es de solo lectura: no puede marcar dominios ni cambiar alertas.'

test('a read-only key shows the lists, and disables other actions with an explanation', async () => {
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'read' }))
  const { page } = await browser.open(service, '', {})
  await enterKey(page, key)
  await page.getByText('Clave de dominios agregada').waitFor()

  const link = (name: RegExp) =>
    page.getByRole('navigation', { name: 'Pantallas' }).getByRole('link', { name })
  await link(/^Triaje \(su clave no lo permite\)/).click()
  await page.getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda escribir' }).waitFor()
  await page.getByText('La clave en uso: Solo lectura.').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await link(/^Importar \(su clave no lo permite\)/).click()
  await page.getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda escribir' }).waitFor()

  await link(/^Dominios$/).click()
  await page.getByText(READ_ONLY).waitFor()
  await page.getByText('perro').first().click()
  assert.equal(await page.getByRole('button', { name: 'Descartar' }).isDisabled(), true)
  assert.deepEqual(await accessibilityViolations(page), [])

  await link(/^Alertas$/).click()
  await page.getByRole('heading', { name: 'Cortos' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Nueva alerta' }).isDisabled(), true)
})

test('a write key shows no such notice', async () => {
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ scope: 'write' }))
  const { page } = await browser.open(service, 'vigilancias', { domainwatch: key })
  await page.getByRole('heading', { name: 'Cortos' }).waitFor()
  assert.equal(await page.getByRole('button', { name: 'Nueva alerta' }).isDisabled(), false)
  assert.equal(await page.getByText(READ_ONLY).count(), 0)
  assert.equal(await page.getByText('su clave no lo permite').count(), 0)
})

test('a read-only imagestore key cannot delete; an upload key has no gallery', async () => {
  const read = await service.newKey('fotos', 'imagestore', limited({ scope: 'read' }))
  const reader = await browser.open(service, 'imagenes', { imagestore: read.key })
  await reader.page.getByText('Su clave es de solo lectura: no puede subir ni borrar imágenes.').waitFor()
  assert.equal(await reader.page.getByRole('button', { name: 'Subir' }).isDisabled(), true)
  await reader.context.close()

  const upload = await service.newKey('fotos', 'imagestore', limited({ scope: 'upload' }))
  const uploader = await browser.open(service, '', {})
  await uploader.page.getByLabel('Clave de API').fill(upload.key)
  await uploader.page.getByRole('button', { name: 'Entrar' }).click()
  await uploader.page.getByText('Clave de imágenes agregada').waitFor()
  await uploader.page.getByRole('link', { name: /^Imágenes \(su clave no lo permite\)/ }).click()
  await uploader.page
    .getByRole('heading', { name: 'Esta pantalla necesita una clave que pueda ver las imágenes' })
    .waitFor()
})

test('an expired key is reported when it is pasted; over its rate, the user sees how long to wait, in both languages', async () => {
  const expired = await service.newKey('grupo', 'domainwatch', limited({ expiresAt: Date.now() - 1 }))
  const perDay = { count: 1, periodMs: 86_400_000 }
  const { key } = await service.newKey('grupo', 'domainwatch', limited({ rate: perDay }))
  assert.equal((await call(service, LIST, { query: { api: key } })).status, 200)
  const { page } = await browser.open(service, '', {})
  const enter = async (field: string, button: string) => {
    await page.getByLabel(field).fill(key)
    await page.getByRole('button', { name: button }).click()
  }
  await enterKey(page, expired.key)
  await page.getByText('La clave de API expiró').waitFor()
  await enter('Clave de API', 'Entrar')
  await page.getByText('Demasiadas solicitudes. Espere 24 horas', { exact: true }).waitFor()
  await page.getByLabel('Idioma').selectOption('English')
  for (const [seconds, text] of [
    [1, '1 second'],
    [119, '119 seconds'],
    [121, '3 minutes'],
    [undefined, 'a moment'],
  ] as const) {
    const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) }
    await page.route('**/domainwatch/key?*', (route) =>
      route.fulfill({ status: 429, headers, json: { status: 429, msg: 'Demasiadas solicitudes' } }),
    )
    await enter('API key', 'Sign in')
    await page.getByText(`Too many requests. Wait ${text}`, { exact: true }).waitFor()
  }
})
