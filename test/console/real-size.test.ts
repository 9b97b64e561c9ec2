/** What depends on how many names there are, with as many as people have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { domainGrid, shownDay, waitForExpression } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, stored } from '../support/domains.ts'
import { call } from '../support/http.ts'
import { REAL_SIZE, realNames, storeRealSize } from '../support/real-size.ts'

/** The names of three days. */
const VIEW = { from: '2025-06-05', to: '2025-06-07' }
const VIEW_PATH = `dominios?from=${VIEW.from}&to=${VIEW.to}`
const IN_VIEW = 3 * 1_440
const inSpanish = (n: number) => new Intl.NumberFormat('es-CL').format(n)
const SHOWN = inSpanish(IN_VIEW)

const { service, browser } = await startConsole({ flags: { 'dns-servers': '127.0.0.1:9' } })
const ana = (await service.newKey('Ana', 'domainwatch')).key
await storeRealSize(service)
await stored(service, [record('estadio'), record('oscuro'), record('oscuros')])

const open = (path: string, visit = {}, key = service.domainKey) =>
  browser.open(service, path, { domainwatch: key }, visit)
const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text })
const bar = (page: Page) => page.getByRole('region', { name: /seleccionados$/ })
const loaded = (page: Page) => page.locator('.table-row.active:not(:has(.bone))').waitFor()

const countOf = async (filters: Readonly<Record<string, string | number>>): Promise<number> => {
  const query = { ...VIEW, ...filters, api: service.domainKey }
  return Object((await call(service, '/api/v1/domainwatch/stats', { query })).body).totals.records
}

async function selectView(page: Page): Promise<void> {
  await page.keyboard.press('Control+a')
  await page.getByRole('button', { name: `Seleccionar los ${SHOWN}` }).click()
  await bar(page).getByText(`${SHOWN} seleccionados`).waitFor()
}

test('a change of thousands survives a reload, and is undone by z and from the list of what one did', async () => {
  const { page, context, complaints } = await open(VIEW_PATH)
  await loaded(page)
  await selectView(page)
  await bar(page).getByRole('button', { name: 'Descartar', exact: true }).click()
  await page
    .locator('.task')
    .filter({ hasText: `Descartando ${SHOWN} dominios` })
    .waitFor()
  await page.reload()
  await toast(page, `${SHOWN} dominios descartados`).waitFor()
  assert.equal(await countOf({ discarded: 1 }), IN_VIEW)
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${SHOWN} dominios`).waitFor()
  assert.equal(await countOf({ discarded: 0, seen: 0 }), IN_VIEW)

  for (const [button, field, text, done] of [
    ['Etiquetar', 'Etiquetas que se agregan', 'oferta', 'otras etiquetas'],
    ['Anotar', /./, 'para la reunión', 'otra nota'],
  ] as const) {
    await selectView(page)
    await bar(page).getByRole('button', { name: button, exact: true }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: field }).fill(text)
    await page.getByRole('dialog').getByRole('button', { name: 'Aplicar a todos' }).click()
    await toast(page, `${SHOWN} dominios con ${done}`).waitFor()
  }
  assert.equal(await countOf({ tag: 'oferta' }), IN_VIEW)
  await page.goto(`${service.url}/console/actividad`)
  for (const done of ['otra nota', 'otras etiquetas']) {
    const row = page.locator('tbody tr').filter({ hasText: `${SHOWN} dominios con ${done}` })
    await row.getByRole('button', { name: /^Deshacer/ }).click()
    await row.getByText('Deshecho').waitFor()
    await toast(page, `Deshecho: ${SHOWN} dominios`).waitFor()
    await toast(page, `Deshecho: ${SHOWN} dominios`).getByRole('button', { name: 'Cerrar' }).click()
  }
  assert.equal(await countOf({ tag: 'oferta' }), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the palette offers screens, settings and shared views before names', async () => {
  const { page, context, complaints } = await open(VIEW_PATH)
  await loaded(page)
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  await page.getByRole('button', { name: 'Guardar esta vista' }).click()
  await page.getByLabel('Nombre').fill('Nombres del estado')
  await page.getByLabel('Compartir con el grupo').check()
  await page.getByRole('button', { name: 'Guardar vista' }).click()
  await toast(page, 'Vista guardada').waitFor()
  await context.close()

  const hers = await open('', {}, ana)
  await hers.page.getByRole('region', { name: 'Últimos inscritos' }).getByText('oscuro.cl').waitFor()
  for (const [typed, expected] of [
    ['oscuro', ['Tema: Oscuro', 'oscuro.cl', 'oscuros.cl', 'Buscar «oscuro» en Dominios']],
    ['estad', ['Estadísticas', 'Nombres del estado', 'estadio.cl', 'Buscar «estad» en Dominios']],
  ] as const) {
    await hers.page.keyboard.press('Control+k')
    await hers.page.keyboard.type(typed)
    const options = hers.page.locator('[role=option]')
    // Views and names arrive after the rest.
    for (const one of expected) await options.filter({ hasText: one }).first().waitFor()
    assert.deepEqual(
      (await options.allInnerTexts()).map((one) => one.split('\n')[0]),
      expected,
    )
    await hers.page.keyboard.press('Escape')
  }
  assert.deepEqual([...complaints, ...hers.complaints], [])
  await hers.context.close()
})

test('a CSV file has all names of the table, with every time in the time zone of the service', async () => {
  const { page, context, complaints } = await open('dominios')
  await loaded(page)
  await page.getByRole('button', { name: 'Más', exact: true }).click()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Exportar CSV' }).click()
  await toast(page, `Exportado: ${inSpanish(REAL_SIZE + 3)} líneas`).waitFor()
  const chunks = await (await (await download).createReadStream()).toArray()
  const lines = chunks.map(String).join('').trim().split('\r\n')
  assert.equal(lines.length, REAL_SIZE + 4)
  const [names = [], ...rows] = lines.map((line) => line.split(','))
  assert.deepEqual(names.slice(-5), ['seen', 'seen_by', 'seen_at', 'note', 'tags'])
  const { name, date } = realNames(1)[0] ?? assert.fail()
  const row = rows.find(([first]) => first === name) ?? []
  assert.equal(row[names.indexOf('date_reg')], date)
  const times = row.filter((cell) => /^\d{4}-/.test(cell))
  assert.ok(times.every((time) => /^[\d-]{10} [\d:]{8}$/.test(time)))
  assert.deepEqual(complaints, [])
  await context.close()
})

test('charts open on the days of the data', async () => {
  const { page, context, complaints } = await open('cifras?search=nombre')
  const days = page.getByRole('region', { name: 'Inscripciones y eliminaciones por día' })
  await days.getByText('Ver como tabla').click()
  const { date = '' } = realNames().at(-1) ?? {}
  const last = days.locator('tbody tr').last()
  await last.getByText(shownDay(`${Number(date.slice(8, 10))} ago`, 2025)).waitFor()
  assert.equal(await days.getByRole('combobox', { name: 'Días que se muestran' }).inputValue(), 'todo')
  await page.goto(`${service.url}/console/dominios?search=nombre`)
  await page.getByRole('slider').and(page.locator('[aria-valuetext*="inscritos"]')).waitFor()
  assert.deepEqual(complaints, [])
  await context.close()
})

for (const width of [390, 1_440]) {
  test(`at ${width} pixels, the table and the chips stay in place when all names are counted`, async () => {
    const { page, context } = await open('no-existe', { width, height: 844 })
    await page.getByRole('heading', { name: 'Página no encontrada' }).waitFor()
    const counted = Promise.withResolvers<void>()
    await page.route('**/domainwatch/stats?*', async (route) => {
      await counted.promise
      await route.continue()
    })
    await page.goto(`${service.url}/console/dominios`)
    await loaded(page)
    if (width === 390) await page.getByRole('button', { name: 'Filtros', exact: true }).click()
    const parts = [domainGrid(page), ...(await page.locator('.domains-chips .chip').all())]
    const places = () => Promise.all(parts.map((part) => part.boundingBox()))
    const early = await places()
    counted.resolve()
    await page.getByRole('button', { name: `Inscrito ${inSpanish(REAL_SIZE + 3)}` }).waitFor()
    await waitForExpression(page, `document.querySelector('.days-place').childElementCount > 0`)
    assert.deepEqual(await places(), early)
    await context.close()
  })
}
