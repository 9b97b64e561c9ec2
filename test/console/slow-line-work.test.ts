/** Work on many records, new names, images and parts of the page on a slow line that breaks, while a colleague works. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'
import { call } from '../support/http.ts'
import { gradient, ImageClient } from '../support/images.ts'
import { BULK } from '../support/jobs.ts'
import { slowLine } from '../support/slow-line.ts'

const TOTAL = 520

const { service, browser } = await startConsole()
const ana = (await service.newKey('Ana', 'domainwatch')).key
const viewed = Array.from({ length: TOTAL }, (_, i) => record(`vista${i}`))
await stored(service, viewed, { encoding: 'json' })

const open = (path: string) =>
  browser.open(service, path, { domainwatch: service.domainKey, imagestore: service.imageKey })
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })
const lost = (page: Page) => page.locator('.lost').getByText('Sin conexión con el servicio. Se reintenta')

test('all records of a view are changed by one job although the answer was lost, and undone', async () => {
  const { page, context, complaints } = await open('dominios?starts=vista')
  await page.getByRole('checkbox', { name: 'Seleccionar las filas cargadas' }).check()
  await page.getByRole('button', { name: `Seleccionar los ${TOTAL}` }).click()
  const line = await slowLine(page)
  const gate = await holdRequests(page, 'domainwatch/bulk')
  await page.getByRole('button', { name: 'Descartar', exact: true }).click()
  const held = await gate.next()
  await held.loseAnswer()
  await line.break()
  await gate.open()
  await lost(page).waitFor()
  await line.mend()
  await toast(page, `${TOTAL} dominios descartados`).waitFor()
  assert.equal((await records(service, { starts: 'vista', discarded: 1, limit: 1_000 })).length, TOTAL)
  const { body } = await call(service, BULK, { query: { api: service.domainKey } })
  assert.equal(Object(body).count, 1)
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${TOTAL} dominios`).waitFor()
  assert.deepEqual(await records(service, { starts: 'vista', discarded: 1 }), [])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('while a slow list loads, the count of the previous view is not shown for it', async () => {
  await update(service, [{ domain: 'vista519', revision: 1 }])
  const { page, context } = await open('dominios?starts=vista')
  const foot = page.locator('.domains-foot')
  await foot.getByText(`${TOTAL} dominios`).waitFor()
  await slowLine(page)
  const gate = await holdRequests(page, 'domainwatch/list')
  await page.getByRole('button', { name: /^Revisión/ }).click()
  await foot.getByText('Cargando…').waitFor()
  await gate.open()
  await foot.getByText('1 dominio', { exact: true }).waitFor()
  await context.close()
})

test('pasted names are added once although the response was lost, and those of a colleague are kept', async () => {
  const { page, context, complaints } = await open('agregar')
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
  assert.deepEqual(complaints, [])
  await context.close()
})

test('uploads interrupted by a lost connection complete when it is back, each once', async () => {
  const { page, context, complaints } = await open('imagenes')
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
  assert.deepEqual(complaints, [])
  await context.close()
})

test('parts of the page that failed to load are loaded after a reconnection, and the rows stay meanwhile', async () => {
  const { page, context, complaints } = await open('dominios?starts=vista')
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
  assert.deepEqual(complaints, [])
  await context.close()
})
