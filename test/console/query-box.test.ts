/** The words of the query box: completed, and explained where they mean nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations, assertAccessible, domainRow, showsTexts } from '../support/browser.ts'
import { record, stored, update } from '../support/domains.ts'
import { imported } from '../support/jobs.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casa-azul', 'faro', 'sol'].map((name, i) => record(name, { status: i % 2 })),
)
const open = (path: string, visit = {}) =>
  browser.open(service, path, { domainwatch: service.domainKey }, visit)
const box = (page: Page) => page.getByRole('searchbox')
const offers = (page: Page) => page.getByRole('listbox', { name: 'Completar' }).getByRole('option')

test('filters and their values are completed by keys and by the pointer, while the table follows', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'sol').waitFor()
  await box(page).pressSequentially('lar')
  await showsTexts(offers(page), ['largo:Largo'])
  await page.keyboard.press('ArrowDown')
  assert.equal(await page.evaluate(`document.querySelector('[aria-activedescendant]').id !== ''`), true)
  await page.keyboard.press('Enter')
  // Lengths that there are, with their counts.
  await offers(page).filter({ hasText: 'largo:9' }).click()
  assert.equal(await box(page).inputValue(), 'largo:9 ')
  await domainRow(page, 'casa-azul').waitFor()
  await domainRow(page, 'sol').waitFor({ state: 'detached' })
  await page.waitForURL(/length=9/)
  await box(page).fill('')
  await box(page).pressSequentially('est')
  await showsTexts(offers(page), ['estado:libre', 'estado:inscrito'])
  await page.keyboard.press('Escape')
  assert.equal(await offers(page).count(), 0)
  await box(page).fill('desde:')
  await offers(page)
    .nth(1)
    .getByText(/^desde:\d{4}-\d\d-\d\dayer$/)
    .waitFor()
})

test('the days offered are those of the calendar, also when the clocks change', async () => {
  const { page } = await open('dominios')
  const answer = async (route: Route) => {
    if (route.request().url().includes('/events?')) return route.abort()
    const response = await route.fetch()
    // The second 23:30 of 4 April, a day of 25 hours.
    const headers = { ...response.headers(), date: 'Sun, 05 Apr 2026 03:30:00 GMT' }
    await route.fulfill({ response, headers })
  }
  // Requests of the page before the reload take no answer.
  await page.route('**/api/**', (route) => answer(route).catch(() => undefined))
  await page.reload()
  await domainRow(page, 'sol').waitFor()
  await box(page).fill('desde:')
  await showsTexts(offers(page), [
    'desde:2026-04-04hoy',
    'desde:2026-04-03ayer',
    'desde:2026-03-28hace 7 días',
    'desde:2026-03-05hace 30 días',
  ])
})

test('an unknown word is underlined, with an explanation below', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'sol').waitFor()
  const reason = page.locator('.query-fault')
  await box(page).fill('casa largo:muy')
  await reason.getByText('«largo:muy» no es válido: debe ser un número entre 1 y 63.').waitFor()
  assert.equal(await page.locator('.query-mirror .wrong').textContent(), 'largo:muy')
  assert.equal(await box(page).getAttribute('aria-invalid'), 'true')
  // It is not known how many records there are.
  await page
    .locator('.domains-foot')
    .getByText(/dominio/)
    .waitFor({ state: 'detached' })
  await box(page).fill('estado:quizás')
  await reason.getByText('«estado:quizás» no es válido: debe ser libre o inscrito.').waitFor()
  await box(page).fill('color:rojo')
  await reason.getByText('«color:rojo» no es un filtro: no hay ninguno que se llame «color».').waitFor()
  // It filters nothing, and nothing is asked for with it.
  await domainRow(page, 'sol').waitFor()
  await assertAccessible(page)
  await box(page).fill('casa')
  await domainRow(page, 'casa-azul').waitFor()
  assert.equal(await reason.textContent(), '')
})

test('a URL is searched for by its name, and further typing keeps the text', async () => {
  const { page } = await open('dominios')
  await domainRow(page, 'sol').waitFor()
  await box(page).fill('https://www.casa-azul.cl/')
  await domainRow(page, 'casa-azul').waitFor()
  await domainRow(page, 'sol').waitFor({ state: 'detached' })
  await page.waitForURL(/search=casa-azul/)
  assert.equal(await box(page).inputValue(), 'https://www.casa-azul.cl/')
  await box(page).fill('lar')
  await offers(page).first().waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
})

test('existing tags are completed in the query box and the tag field, most frequent first', async () => {
  const tagged = [
    { domain: 'faro', tags: ['venta', 'playa'], seen: 1 },
    { domain: 'sol', tags: ['playa'] },
    { domain: 'casa', tags: ['palabra'], revision: 1 },
    { domain: 'casa-azul', tags: ['pasada'] },
  ]
  assert.equal((await update(service, tagged, { encoding: 'json' })).status, 200)
  // Later changes of others do not make a tag unknown.
  const later = Array.from({ length: 250 }, (_, i) => record(`otro${i}`, { date_reg: '2020-01-01 00:00:00' }))
  await stored(service, later, { encoding: 'json' })
  const { page } = await open('dominios')
  await domainRow(page, 'sol').waitFor()
  await box(page).fill('etiqueta:p')
  await showsTexts(offers(page), ['etiqueta:playa', 'etiqueta:palabra', 'etiqueta:pasada'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  assert.equal(await box(page).inputValue(), 'etiqueta:playa ')
  await domainRow(page, 'casa').waitFor({ state: 'detached' })
  await domainRow(page, 'faro').waitFor()
  // What nobody has decided about has a button, what someone has a chip of its own.
  await box(page).fill('')
  await page.getByRole('button', { name: 'Sin ver', exact: true }).click()
  await page.waitForURL(/seen=0/)
  await domainRow(page, 'faro').waitFor({ state: 'detached' })
  await box(page).fill('visto:sí')
  await domainRow(page, 'faro').waitFor()
  await domainRow(page, 'sol').waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('button', { name: 'Sin ver' }).getAttribute('aria-pressed'), 'false')
  await page.getByRole('button', { name: 'visto:sí' }).click()
  await domainRow(page, 'sol').waitFor()
  await page.goto(`${service.url}/console/dominios?ficha=sol`)
  const field = page.getByRole('combobox', { name: 'Etiquetas' })
  await field.focus()
  // The browser shows them; the tag that the name has is not offered again.
  await page.locator('datalist option').nth(1).waitFor({ state: 'attached' })
  const values = await page
    .locator('datalist option')
    .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
  assert.deepEqual(values, ['palabra', 'pasada', 'venta'])
  assert.deepEqual(await accessibilityViolations(page), [])
})

test('imported numbers are words and chips, and the form says what each signal means', async () => {
  await imported(service, 'casa,volumen,120\nfaro,volumen,9.5\n', { format: 'numbers' })
  const { page } = await open('dominios')
  await domainRow(page, 'sol').waitFor()
  await box(page).fill('num-volumen-mínimo:muchos ')
  await page.getByText('debe ser un número decimal').first().waitFor()
  await box(page).fill('num-volumen-mínimo:100 ')
  await domainRow(page, 'faro').waitFor({ state: 'detached' })
  await domainRow(page, 'casa').waitFor()
  await page.waitForURL(/num_volumen_min=100/)
  await page.getByRole('button', { name: 'num-volumen-mínimo:100' }).click()
  await domainRow(page, 'faro').waitFor()
  await page.getByRole('button', { name: 'Más filtros' }).click()
  await page.getByText('cuenta la menos frecuente').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByLabel('Sílabas', { exact: false }).first().fill('1')
  await page.getByRole('button', { name: 'Filtrar', exact: true }).click()
  await page.waitForURL(/syllables=1/)
  await domainRow(page, 'sol').waitFor()
  await domainRow(page, 'casa').waitFor({ state: 'detached' })
})
