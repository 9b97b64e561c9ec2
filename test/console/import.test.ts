/** Lists that the service imports: their upload, what they would change, their progress and history. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible, toast, openScreen } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'
import { call } from '../support/http.ts'
import { IMPORTS, type Job } from '../support/jobs.ts'
import { manyNames } from '../support/many-domains.ts'
import { badLine } from '../support/slow-line.ts'

const { service, browser } = await startConsole()
const ana = (await service.newKey('Ana', 'domainwatch')).key
await stored(service, [
  record('vieja', { date_reg: '2025-12-30 08:00:00' }),
  record('vendida', { date_reg: '2025-12-30 09:00:00', status: 0 }),
])
const open = () => browser.open(service, 'importar', { domainwatch: service.domainKey })
const file = (name: string, text: string | Buffer) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})
const pick = (page: Page, chosen: ReturnType<typeof file>) =>
  page.locator('input[type=file]').setInputFiles(chosen)
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const past = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Importaciones anteriores' }).getByRole('row').filter({ hasText: name })

async function imports(key = service.domainKey): Promise<readonly Job[]> {
  return Object((await call(service, IMPORTS, { query: { api: key } })).body).data
}

/** A list that takes the service a while. */
const largeList = (stem: string, count = 150_000) =>
  file(`${stem}.txt`, Array.from({ length: count }, (_, i) => `${stem}${i}.cl`).join('\n'))

test('a list shows what it would change and its invalid lines, and is imported then', async () => {
  const { page } = await open()
  const lines = [
    'Nombre Dominio,Fecha Inscripción',
    'ñandú.cl,2025-12-31 10:00:00',
    'vieja.cl,2025-12-30 08:00:00',
    'vendida.cl,2026-01-30 09:00:00',
    '-mala-.cl,2025-12-30 07:00:00',
    'sin fecha',
    ...Array.from({ length: 2_500 }, (_, i) => `lote${i}.cl,2025-12-29 10:00:00`),
    '',
  ]
  await pick(page, file('inscritos.csv.gz', gzipSync(lines.join('\n'))))
  await button(page, 'Ver los cambios').click()
  const preview = page.getByRole('region', { name: 'Qué cambiaría' })
  await preview.getByText('nuevos: 2.501').waitFor()
  await preview.getByText('cambian: 1').waitFor()
  await preview.getByText('sin cambios: 1').waitFor()
  await preview.getByText('2 líneas con problemas').waitFor()
  await preview.getByText('Líneas con problemas', { exact: true }).click()
  await preview.getByText(/^Línea 5/).waitFor()
  await preview.getByText(/^Línea 6/).waitFor()
  await assertAccessible(page)
  await page.setViewportSize({ width: 1_440, height: 900 })
  assert.equal((await records(service, { search: 'ñandú' })).length, 0, 'nothing is stored by looking')
  await button(page, 'Importar').click()
  await toast(page, 'Importación terminada: inscritos.csv.gz. 2.502 dominios nuevos o cambiados.').waitFor()
  const row = past(page, 'inscritos.csv.gz')
  await row.getByText('Terminada').waitFor()
  await row.getByText('2 líneas con problemas').waitFor()
  assert.equal((await records(service, { search: 'ñandú' }))[0]?.date_reg, '2025-12-31 10:00:00')
  assert.equal((await records(service, { search: 'vendida' }))[0]?.status, 1)
  // An import is a submission of its account.
  await openScreen(page, 'Estadísticas')
  const adds = page.getByRole('region', { name: 'Último envío de cada cuenta' })
  await adds.getByRole('row', { name: /^grupo \d/ }).waitFor()
  await adds.getByRole('row', { name: 'Ana Nunca' }).waitFor()
})

test('a list of deletions covers the time that the person chooses, for a source by name', async () => {
  const { page } = await open()
  await page.locator('.drop-place').waitFor()
  // Dropped anywhere on the page.
  await page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File(['vieja.cl\\nnunca-vista.cl\\n'], 'eliminados.txt', { type: 'text/plain' }))
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
  }`)
  await page.getByLabel('Formato').selectOption('Eliminados')
  await page.getByLabel('Plazo que cubre').selectOption('La última semana')
  await page.getByRole('textbox', { name: 'Origen' }).fill('semanal')
  await button(page, 'Importar').click()
  const row = past(page, 'eliminados.txt')
  await row.getByText('Terminada').waitFor()
  await row.getByText('semanal').waitFor()
  const [job] = await imports()
  assert.partialDeepStrictEqual(job, { format: 'deletions', window: 'week', source: 'semanal', dry_run: 0 })
  assert.equal((await records(service, { search: 'nunca-vista' }))[0]?.status, 0)
})

test('an import continues while the page is reloaded, can be stopped from any screen, and belongs to its account', async () => {
  const { page } = await open()
  await pick(page, largeList('larga'))
  await button(page, 'Importar').click()
  const task = page.locator('.task').filter({ hasText: 'Importando larga.txt' })
  await task.waitFor()
  assert.equal(await page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))'), true)
  await page.goto(`${service.url}/console/cifras`)
  await task.waitFor()
  const other = await browser.open(service, 'importar', { domainwatch: ana })
  await other.page.locator('.drop-place').waitFor()
  assert.equal(await other.page.getByText('larga.txt').count(), 0)
  await other.context.close()
  await page.getByRole('button', { name: 'Detener: Importando larga.txt' }).click()
  await toast(page, 'Se detuvo la importación de larga.txt.').waitFor()
  await openScreen(page, 'Importar')
  await past(page, 'larga.txt').getByText('Detenida').waitFor()
  await past(page, 'larga.txt').getByText('Lo que ya estaba guardado se conserva.').waitFor()
})

test('the browser asks before a list that is being sent is lost, and the upload can be stopped', async () => {
  const { page } = await open()
  await pick(page, file('enviada.txt', 'enviada.cl\n'))
  const before = (await imports()).length
  const gate = await holdRequests(page, 'domainwatch/import')
  await button(page, 'Importar').click()
  await gate.next()
  assert.equal(await page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))'), false)
  await button(page, 'Detener').click()
  await page.locator('.drop-place').waitFor()
  assert.equal(await page.locator('.task').count(), 0)
  await gate.open()
  assert.equal((await imports()).length, before)
})

test('on a line where every fifth request fails, a long list is imported once', async () => {
  const { page } = await open()
  const lines = manyNames(20_000).map(({ name, date }) => `${name}.cl,${date}`)
  await pick(page, file('ocho-meses.csv.gz', gzipSync(`${lines.join('\n')}\n`)))
  const failed = await badLine(page)
  await button(page, 'Ver los cambios').click()
  const preview = page.getByRole('region', { name: 'Qué cambiaría' })
  await preview.getByText('nuevos: 20.000').waitFor()
  await button(page, 'Importar').click()
  await toast(page, 'Importación terminada: ocho-meses.csv.gz. 20.000 dominios').waitFor()
  const own = (await imports()).filter(({ name }) => name === 'ocho-meses.csv.gz')
  assert.deepEqual(
    own.map(({ dry_run: isDry, state }) => [isDry, state]),
    [
      [0, 'done'],
      [1, 'done'],
    ],
  )
  assert.ok(failed() > 0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('a list that the service cannot read says why, and the one that it has already changes nothing', async () => {
  const { page } = await open()
  await pick(page, file('vacio.csv', ''))
  await button(page, 'Importar').click()
  await page.getByText('El archivo está vacío o no se puede leer.').waitFor()
  await button(page, 'Cancelar').click()
  await pick(page, file('pagina.html', '<html><body>Error</body></html>'))
  await button(page, 'Importar').click()
  await toast(page, 'No se pudo importar pagina.html').waitFor()
  await past(page, 'pagina.html').getByText('Falló').waitFor()
  for (const text of ['Terminada', 'Es idéntica a la última lista de su origen: no cambió nada.']) {
    await pick(page, file(`igual-${text.length}.txt`, 'igual.cl\n'))
    await page.getByRole('textbox', { name: 'Origen' }).fill('igual')
    await button(page, 'Importar').click()
    await past(page, `igual-${text.length}.txt`).getByText(text).waitFor()
  }
})
