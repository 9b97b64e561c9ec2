/** Gestures that come before what they follow has been answered or shown. */
import { commonErrors } from '../../src/lib/errors.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainRow } from '../support/browser.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'

const NAMES = ['casa', 'perro', 'sol']

const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
await stored(
  service,
  NAMES.map((name) => record(name)),
)
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const box = (page: Page) => page.getByRole('searchbox')
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })
const discarded = async () => (await records(service, { discarded: 1 })).map(({ name }) => name).toSorted()
const restore = () =>
  update(
    service,
    NAMES.map((domain) => ({ domain, discarded: 0 })),
  )

/** Holds a file of the console until it is released. */
async function holdFile(page: Page, address: RegExp): Promise<() => Promise<void>> {
  const held: Route[] = []
  await page.route(address, (route) => void held.push(route))
  await page.reload()
  return async () => {
    await page.unroute(address)
    for (const route of held) await route.continue()
  }
}

test('a key right after a change of the filters does nothing to the rows of the previous ones', async () => {
  const { page, context, complaints } = await open('dominios')
  await domainRow(page, 'casa').waitFor()
  const gate = await holdRequests(page, 'domainwatch/list')
  await box(page).fill('sol')
  await page.keyboard.press('Enter')
  await page.keyboard.press('d')
  await toast(page, 'Cargando…').waitFor()
  await page.keyboard.press('x')
  await page.keyboard.press('Enter')
  assert.equal(await page.getByRole('complementary').count(), 0)
  await gate.open()
  await domainRow(page, 'casa').waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('region', { name: '1 seleccionado' }).count(), 0)
  await page.keyboard.press('d')
  await toast(page, '1 dominio descartado: sol.cl').waitFor()
  assert.deepEqual(await discarded(), ['sol'])
  await restore()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('names that could not be changed are selected again only in the view where they were selected', async () => {
  const { page, context } = await open('dominios')
  await domainRow(page, 'casa').locator('.pick').click()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.locator('.selection').getByRole('button', { name: 'Descartar' }).click()
  const sent = await gate.next()
  await box(page).fill('sol')
  await domainRow(page, 'casa').waitFor({ state: 'detached' })
  await domainRow(page, 'sol').waitFor()
  await sent.answer(commonErrors.overloaded())
  await toast(page, 'No se pudo descartar casa.cl').waitFor()
  await domainRow(page, 'sol').locator('.pick').click()
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  await context.close()
})

test('a double click on a button of the details, or on undo, is one click', async () => {
  const { page, context, complaints } = await open('dominios?ficha=sol')
  const sheet = page.getByRole('complementary', { name: 'Detalles de sol.cl' })
  await sheet.getByRole('button', { name: 'Descartar' }).dblclick()
  await toast(page, '1 dominio descartado: sol.cl').waitFor()
  await sheet.getByRole('button', { name: 'Restaurar' }).waitFor()
  assert.deepEqual(await discarded(), ['sol'])
  const tag = sheet.getByRole('combobox', { name: 'Etiquetas' })
  for (const name of ['mar', 'sur']) {
    await tag.fill(name)
    await tag.press('Enter')
    await sheet.getByRole('button', { name: `Quitar la etiqueta ${name}` }).waitFor()
  }
  await sheet.getByRole('button', { name: 'Quitar la etiqueta mar' }).dblclick()
  await sheet.getByRole('button', { name: 'Quitar la etiqueta mar' }).waitFor({ state: 'detached' })
  assert.equal(await sheet.getByRole('button', { name: 'Quitar la etiqueta sur' }).count(), 1)
  await restore()
  assert.deepEqual(complaints, [])
  await context.close()
})

test('details that come late leave the focus to a field that the user types in', async () => {
  const { page, context, complaints } = await open('dominios')
  const release = await holdFile(page, /assets\/sheet-[^/]*\.js/)
  await domainRow(page, 'perro').click()
  await page.keyboard.press('/')
  await release()
  await page
    .getByRole('complementary', { name: 'Detalles de perro.cl' })
    .getByRole('heading')
    .first()
    .waitFor()
  await page.keyboard.type('sol')
  assert.equal(await box(page).inputValue(), 'sol')
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a form whose code comes late takes the keys from the start', async () => {
  const { page, context, complaints } = await open('dominios')
  const release = await holdFile(page, /assets\/filter-form-[^/]*\.js/)
  await domainRow(page, 'casa').waitFor()
  await page.getByRole('button', { name: 'Más filtros' }).click()
  const form = page.getByRole('dialog', { name: 'Filtros' })
  await form.getByRole('status').waitFor()
  await page.keyboard.press('d')
  await release()
  await form.getByRole('textbox').first().waitFor()
  assert.deepEqual(await discarded(), [])
  assert.equal(await page.locator('.toast').count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})
