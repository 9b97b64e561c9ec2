/** The page while the service is away or its line is slow and breaks, after it came back with another release, and undo that failed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { httpErrors } from '../../src/http/errors.ts'
import { startConsole } from '../support/console.ts'
import { errorResponse, holdRequests } from '../support/gate.ts'
import { record, stored, records, update } from '../support/domains.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { slowLine } from '../support/slow-line.ts'
import { commonErrors } from '../../src/lib/errors.ts'
import { domainRow, openScreen, toast } from '../support/browser.ts'

const TOTAL = 520

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const ana = (await service.newKey('Ana', 'domainwatch')).key
const viewed = Array.from({ length: TOTAL }, (_, i) => record(`vista${i}`))
const queued = ['uno', 'dos', 'tres'].map((name, i) =>
  record(`cola-${name}`, { status: 0, date_reg: `2026-01-0${9 - i} 00:00:00` }),
)
await stored(service, [...viewed, ...queued, record('casa')], { encoding: 'json' })
const open = (path = '') =>
  browser.open(service, path, { domainwatch: service.domainKey, imagestore: service.imageKey })

const screen = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

/** Every request fails until the outage is over. */
async function outage(page: Page): Promise<() => Promise<void>> {
  const cut = (route: Route) => route.abort('connectionrefused')
  await page.route('**/*', cut)
  return () => page.unroute('**/*', cut)
}

test('a screen opened during an outage loads when the service is back', async () => {
  const { page } = await open()
  await screen(page, 'Inicio').waitFor()
  const end = await outage(page)
  await openScreen(page, 'Estadísticas')
  await page.getByText('Sin conexión con el servicio. Se reintenta automáticamente.').waitFor()
  await openScreen(page, 'Alertas')
  await end()
  await screen(page, 'Alertas').waitFor()
  await page.getByText('Sin conexión con el servicio').first().waitFor({ state: 'detached' })
  await openScreen(page, 'Estadísticas')
  await screen(page, 'Estadísticas').waitFor()
  await page.locator('.plot canvas').first().waitFor()
  // Its styles are there, too.
  assert.equal(await page.evaluate(`getComputedStyle(document.querySelector('.charts')).display`), 'grid')
})

test('a screen whose file failed to load is fetched again', async () => {
  const { page } = await open()
  await screen(page, 'Inicio').waitFor()
  let failures = 0
  await page.route('**/assets/*.js', (route) =>
    failures++ < 2 ? route.fulfill({ status: 503, body: '' }) : route.continue(),
  )
  await openScreen(page, 'Importar')
  await screen(page, 'Importar').waitFor()
  assert.ok(failures > 2)
})

/** The service has another release, without the files of the one that runs. */
async function upgrade(page: Page): Promise<void> {
  let isOld = true
  await page.route('**/assets/*.js', (route) =>
    isOld ? route.fulfill(errorResponse(httpErrors.path_not_found())) : route.continue(),
  )
  await page.route(/\/console\/(\w*)$/, async (route) => {
    if (route.request().resourceType() === 'document') {
      isOld = false
      return route.continue()
    }
    const response = await route.fetch()
    return route.fulfill({
      response,
      body: (await response.text()).replace(/index-[\w-]+\.js/, 'index-other.js'),
    })
  })
}

test('after an upgrade a missing screen is loaded from the new release automatically', async () => {
  const { page } = await open()
  await screen(page, 'Inicio').waitFor()
  await upgrade(page)
  const loaded = page.waitForEvent('load')
  await openScreen(page, 'Estadísticas')
  await loaded
  await screen(page, 'Estadísticas').waitFor()
  assert.match(page.url(), /\/console\/cifras$/)
})

test('an upgrade while a list is sent offers to load the new release, and loses nothing', async () => {
  const { page } = await open('importar')
  await page.route('**/domainwatch/import?*', () => undefined)
  const file = { name: 'lista.csv', mimeType: 'text/csv', buffer: Buffer.from('nueva.cl,2025-01-01') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByRole('button', { name: 'Importar', exact: true }).click()
  await page.getByRole('link', { name: /^Enviando lista\.csv/ }).waitFor()
  await upgrade(page)
  await openScreen(page, 'Estadísticas')
  await page.getByText('Esta pantalla ya no existe en la versión abierta').waitFor()
  await page.getByRole('link', { name: /^Enviando lista\.csv/ }).click()
  await page.getByRole('region', { name: 'lista.csv' }).getByRole('button', { name: 'Detener' }).click()
  const loaded = page.waitForEvent('load')
  await page.getByRole('button', { name: /^Hay una versión nueva de la consola/ }).click()
  await loaded
  await page.locator('.drop-place').waitFor()
})

const lost = (page: Page) => page.locator('.lost').getByText('Sin conexión con el servicio. Se reintenta')

test('while a slow list loads, the count of the previous view is not shown for it', async () => {
  await update(service, [{ domain: 'vista519', revision: 1 }])
  const { page } = await open('dominios?starts=vista')
  const foot = page.locator('.domains-foot')
  await foot.getByText(`${TOTAL} dominios`).waitFor()
  await slowLine(page)
  const gate = await holdRequests(page, 'domainwatch/list')
  await page.getByRole('button', { name: /^Revisión/ }).click()
  await foot.getByText('Cargando…').waitFor()
  await gate.open()
  await foot.getByText('1 dominio', { exact: true }).waitFor()
})

test('pasted names are added once although the response was lost, and those of a colleague are kept', async () => {
  const { page } = await open('agregar')
  const line = await slowLine(page)
  await page.getByRole('textbox', { name: 'Nombres' }).fill('nuevo1.cl nuevo2.cl nuevo3.cl')
  await page.getByText('3 nuevos', { exact: true }).waitFor()
  await stored(service, [record('nuevo2', { status: 1 })], { key: ana, encoding: 'json' })
  const gate = await holdRequests(page, 'domainwatch/add')
  await page.getByRole('button', { name: 'Agregar 3 nombres' }).click()
  const sending = await gate.next()
  await line.break()
  await sending.loseAnswer()
  await gate.open()
  await toast(page, 'Sin conexión: se guardará cuando vuelva.').waitFor()
  // Changed after it was stored, so it must not be sent again.
  await update(service, [{ domain: 'nuevo1', status: 1 }], { key: ana, encoding: 'json' })
  await line.mend()
  await toast(page, /2 dominios agregados\. Sin agregar: nuevo2\.cl \(alguien lo registró/).waitFor()
  const now = await records(service, { starts: 'nuevo', order: 'name', sort: 'asc' })
  assert.deepEqual(
    now.map(({ name, status, agent }) => [name, status, agent]),
    [
      ['nuevo1', 1, 'grupo'],
      ['nuevo2', 1, 'Ana'],
      ['nuevo3', 0, 'grupo'],
    ],
  )
})

test('uploads interrupted by a lost connection complete when it is back, each once', async () => {
  const { page } = await open('imagenes')
  await page.getByRole('heading', { name: 'Imágenes', level: 1 }).waitFor()
  const line = await slowLine(page)
  const files = await Promise.all(
    [0, 1, 2, 3].map(async (i) => ({
      name: `tren-${i}.png`,
      mimeType: 'image/png',
      buffer: await gradient(60, 30 + i)
        .png()
        .toBuffer(),
    })),
  )
  await page.route('**/u/*', async (route) => {
    await page.unroute('**/u/*')
    await route.fetch()
    await line.break()
    await route.abort('connectionreset')
  })
  await page.locator('input[type=file]').setInputFiles(files)
  const list = page.getByRole('region', { name: 'Subidas' })
  await list.getByText('Sin conexión: sigue cuando vuelva').first().waitFor()
  await line.mend()
  await list.getByText('4 imágenes subidas').waitFor()
  const { body } = await new ImageClient(service.url, service.imageKey).list({ search: 'tren' })
  assert.equal(body['count'], 4)
})

test('parts of the page that failed to load are loaded after a reconnection, and the rows stay meanwhile', async () => {
  const { page } = await open('dominios?starts=vista')
  // Also those that the page fetches ahead, which browsers remember as failed.
  await page.route(/assets\/(filter-form|sheet)-/, (route) => route.abort('internetdisconnected'))
  const ahead = page.waitForEvent('requestfailed', (request) => request.url().includes('/sheet-'))
  await page.reload()
  await page.locator('#row-0').waitFor()
  await ahead
  const line = await slowLine(page)
  await line.break()
  await page.getByRole('button', { name: 'Más filtros' }).click()
  await lost(page).waitFor()
  await page.locator('#row-1').getByText('vista').waitFor()
  await page.unroute(/assets\/(filter-form|sheet)-/)
  await line.mend()
  await page.getByRole('dialog', { name: 'Filtros' }).getByRole('textbox').first().waitFor()
  await page.keyboard.press('Escape')
  await page.locator('#row-1').click()
  await page.getByRole('complementary').getByRole('textbox', { name: 'Nota' }).waitFor()
})

const undoIn = (page: Page, text: string | RegExp) =>
  toast(page, text).getByRole('button', { name: 'Deshacer' }).click()
const discarded = async (starts: string) =>
  (await records(service, { starts, dis: '', limit: 1_024 })).map(({ name }) => name).toSorted()

test('the message of an undo that failed has a button that repeats it', async () => {
  const { page } = await open('dominios?starts=casa')
  await domainRow(page, 'casa').locator('.pick').click()
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  await toast(page, '1 dominio descartado: casa.cl').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await undoIn(page, '1 dominio descartado: casa.cl')
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer casa.cl: El servicio está ocupado').waitFor()
  await domainRow(page, 'casa').getByText('Descartado').waitFor()
  await gate.open()
  await undoIn(page, 'No se pudo deshacer casa.cl')
  await toast(page, 'Deshecho: casa.cl').waitFor()
  assert.deepEqual(await discarded('casa'), [])
})

test('in triage, an undo that failed is repeated for the same name, and not for the one before', async () => {
  const { page } = await open('triaje?starts=cola-')
  const card = (name: string) => page.locator('.triage-name').getByText(`cola-${name}.cl`, { exact: true })
  for (const name of ['uno', 'dos']) {
    await card(name).waitFor()
    await page.keyboard.press('d')
    await toast(page, `1 dominio descartado: cola-${name}.cl`).waitFor()
  }
  await card('tres').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('z')
  await card('dos').waitFor()
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer cola-dos.cl').waitFor()
  await card('tres').waitFor()
  await gate.open()
  await page.keyboard.press('z')
  await card('dos').waitFor()
  await toast(page, 'Deshecho: cola-dos.cl').waitFor()
  assert.deepEqual(await discarded('cola-'), ['cola-uno'])
})

test('undo of an addition that fails half way counts what it took back before', async () => {
  const { page } = await open('agregar')
  const names = Array.from({ length: 260 }, (_, i) => `tarea${i}`)
  await page.getByRole('textbox', { name: 'Nombres' }).fill(names.join(' '))
  await page.getByRole('button', { name: 'Agregar 260 nombres' }).click()
  await toast(page, '260 dominios agregados').waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await undoIn(page, '260 dominios agregados')
  await (await gate.next()).pass()
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'No se pudo deshacer 260 dominios').waitFor()
  await gate.open()
  await undoIn(page, 'No se pudo deshacer 260 dominios')
  await toast(page, '260 nombres descartados, como si no se hubieran agregado.').waitFor()
  assert.equal((await discarded('tarea')).length, 260)
})
