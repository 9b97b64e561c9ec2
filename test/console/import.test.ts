import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { startConsole } from '../support/console.ts'
import { accessibilityViolations } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'

const { service, browser } = await startConsole()
await stored(service, [
  record('vieja', { date_reg: '2025-12-30 08:00:00' }),
  record('vendida', { date_reg: '2025-12-30 09:00:00', status: 0 }),
  // Recorded with a date that lies in none of the list's days.
  record('renovada', { date_reg: '2019-05-01 09:00:00', status: 0 }),
])
const open = () => browser.open(service, 'importar', { domainwatch: service.domainKey })
const file = (name: string, text: string | Buffer) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})

test('a list of registrations shows its changes, progress and rejected lines', async () => {
  const { page, context, complaints } = await open()
  const lines = [
    'Nombre Dominio,Fecha Inscripción',
    'ñandú.cl,2025-12-31 10:00:00',
    'vieja.cl,2025-12-30 08:00:00',
    'vendida.cl,2025-12-30 09:00:00',
    '-mala-.cl,2025-12-30 07:00:00',
    'sin fecha',
    ...Array.from({ length: 2_500 }, (_, i) => `lote${i}.cl,2025-12-29 10:00:00`),
  ]
  await page.locator('input[type=file]').setInputFiles(file('inscritos.csv.gz', gzipSync(lines.join('\n'))))
  await page.getByText('2.503 dominios').waitFor()
  await page.getByText('1 cambian').waitFor()
  await page.getByText('1 sin cambios').waitFor()
  await page.getByText('2.501 nuevos').waitFor()
  await page.getByText('2 líneas con problemas').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  assert.equal((await records(service, { search: 'ñandú' })).length, 0, 'nothing is stored by looking')
  const bad = page.getByRole('region', { name: 'Líneas que no se guardarán' })
  await bad.getByText('Línea 5 -mala-.cl,2025-12-30 07:00:00 El guion no puede ir').waitFor()
  await bad.getByText('Línea 6 sin fecha').waitFor()
  await page.getByRole('button', { name: 'Guardar los 2.503 válidos' }).click()
  await page.getByText('2.503 de 2.503 guardados').waitFor()
  assert.equal((await records(service, { search: 'ñandú' }))[0]?.date_reg, '2025-12-31 10:00:00')
  assert.equal((await records(service, { search: 'vendida' }))[0]?.status, 1)
  assert.equal((await records(service, { search: 'lote' })).length, 1_024)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('imports of two tabs can both be resumed', async () => {
  const { page, context, complaints } = await open()
  const second = await context.newPage()
  await second.goto(`${service.url}/console/importar`)
  const listOf = (stem: string) =>
    Array.from({ length: 2_100 }, (_, i) => `${stem}${i}.cl,2025-12-29 10:00:00`).join('\n')
  for (const [tab, stem] of [
    [page, 'una'],
    [second, 'otra'],
  ] as const) {
    let sent = 0
    await tab.route('**/domainwatch/add?*', (route) => (++sent === 2 ? undefined : route.continue()))
    await tab.locator('input[type=file]').setInputFiles(file(`${stem}.csv`, listOf(stem)))
    await tab.getByRole('button', { name: 'Guardar', exact: true }).click()
    await tab.getByText('2.000 de 2.100 guardados').waitFor()
  }
  // As after a crash.
  const next = await context.newPage()
  await Promise.all([page.close(), second.close()])
  await next.goto(`${service.url}/console/importar`)
  for (const stem of ['una', 'otra']) {
    const left = next
      .locator('.callout')
      .filter({ hasText: `La importación de ${stem}.csv quedó incompleta: 2.000 de 2.100.` })
    await left.getByRole('button', { name: 'Continuar desde el 2.001' }).click()
    // The outcome of the other one looks the same.
    await eventually(async () => (await records(service, { search: `${stem}2099` })).length === 1)
    await next.getByText('2.100 de 2.100 guardados').waitFor()
    await next.getByRole('button', { name: 'Importar otra lista' }).click()
  }
  assert.equal(await next.getByText('quedó incompleta').count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a second file of the same name is another import', async () => {
  const { page, context } = await open()
  const pick = (text: string) => page.locator('input[type=file]').setInputFiles(file('lista.csv', text))
  await pick('primera-lista.cl,2025-12-31 12:00:00')
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('1 de 1 guardados').waitFor()
  await page.getByRole('button', { name: 'Importar otra lista' }).click()
  await pick('segunda-lista.cl,2025-12-31 12:00:00')
  await page.getByRole('rowheader', { name: 'segunda-lista.cl' }).waitFor()
  await page.getByText('1 nuevos').waitFor()
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('1 de 1 guardados').waitFor()
  assert.equal((await records(service, { search: 'segunda-lista' })).length, 1)
  // Picked without closing the one before, too.
  await pick('tercera-lista.cl,2025-12-31 12:00:00')
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('1 de 1 guardados').waitFor()
  assert.equal((await records(service, { search: 'tercera-lista' })).length, 1)
  await context.close()
})

test('an invalid date rejects its line only', async () => {
  const { page, context, complaints } = await open()
  const lines = ['buena.cl;31-12-2025', 'imposible.cl;30-02-2025', 'otra-buena.cl;30-12-2025 10:20']
  await page.locator('input[type=file]').setInputFiles(file('lista.csv', lines.join('\n')))
  await page.getByText('Columnas separadas por punto y coma').waitFor()
  await page.getByText('Fechas: día/mes/año').waitFor()
  await page.getByText('2 nuevos').waitFor()
  await page.getByText('Línea 2 imposible.cl 30-02-2025 La fecha no existe').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByRole('button', { name: 'Guardar los 2 válidos' }).click()
  await page.getByText('2 de 2 guardados').waitFor()
  assert.equal((await records(service, { search: 'otra-buena' }))[0]?.date_reg, '2025-12-30 10:20:00')
  assert.equal((await records(service, { search: 'imposible' })).length, 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('ambiguous dates are parsed as the user chooses', async () => {
  const { page, context } = await open()
  await page.locator('input[type=file]').setInputFiles(file('lista.csv', 'ambigua.cl,03/04/2025'))
  await page.getByRole('cell', { name: '2025-04-03 00:00:00' }).waitFor()
  await page.getByLabel('Orden de las fechas').selectOption('mes/día/año')
  await page.getByRole('cell', { name: '2025-03-04 00:00:00' }).waitFor()
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('1 de 1 guardados').waitFor()
  assert.equal((await records(service, { search: 'ambigua' }))[0]?.date_reg, '2025-03-04 00:00:00')
  await context.close()
})

test('a file without a list is rejected with the reason, and the next one is read', async () => {
  const { page, context, complaints } = await open()
  const pick = (name: string, content: string | Buffer) =>
    page.locator('input[type=file]').setInputFiles(file(name, content))
  const picture = readFileSync(new URL('../../assets/catalejo.png', import.meta.url))
  await pick('vacio.csv', '')
  await page.getByText('vacio.csv: el archivo está vacío.').waitFor()
  await pick('foto.csv', picture)
  await page.getByText('foto.csv: no es un archivo de texto.').waitFor()
  await pick('encabezado.csv', 'Nombre Dominio,Fecha Inscripción\n')
  await page.getByText('encabezado.csv: el archivo solo tiene el encabezado, ningún dominio.').waitFor()
  await pick('enorme.csv.gz', gzipSync('casa.cl\n'.repeat(1_500_001)))
  await page.getByText('enorme.csv.gz: el archivo es demasiado grande para la página').waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await pick('buena.csv', 'tras-las-malas.cl,2025-12-31')
  await page.getByRole('rowheader', { name: 'tras-las-malas.cl' }).waitFor()
  assert.equal(await page.getByText('enorme.csv.gz').count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the page stays responsive while reading a list of more than a million lines', async () => {
  const { page, context, complaints } = await open()
  await page.evaluate(`{
    globalThis.seen = new Set()
    new MutationObserver(() => {
      const [text] = document.body.textContent.match(/Leyendo el archivo… \\d+ %/) ?? []
      if (text !== undefined) globalThis.seen.add(text)
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`)
  const lines = Array.from({ length: 1_200_000 }, (_, i) => `n${i}.cl`)
  await page.locator('input[type=file]').setInputFiles(file('zona.txt', lines.join('\n')))
  await page.getByText('1.200.000 dominios').waitFor()
  await page.getByText('Son demasiados para comparar antes de guardar.').waitFor()
  const seen: unknown = await page.evaluate('globalThis.seen.size')
  assert.ok(Number(seen) >= 5, `${String(seen)} states of progress were drawn`)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a recorded name with a date outside the days of the list counts as changed, not as new', async () => {
  const { page, context } = await open()
  const lines = ['renovada.cl,2025-12-31 12:00:00', 'recien-llegada.cl,2025-12-31 12:00:00']
  await page.locator('input[type=file]').setInputFiles(file('inscritos.csv', lines.join('\n')))
  await page.getByText('1 cambian').waitFor()
  await page.getByText('1 nuevos').waitFor()
  await context.close()
})

test('a list of deletions releases recorded names, and records the others', async () => {
  const { page, context, complaints } = await open()
  await page.locator('.drop-place').waitFor()
  // Dropped anywhere on the page.
  await page.evaluate(`{
    const data = new DataTransfer()
    data.items.add(new File(['vieja.cl\\nnunca-vista.cl\\n'], 'eliminados.txt', { type: 'text/plain' }))
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
  }`)
  await page.getByText('1 cambian').waitFor()
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('2 de 2 guardados').waitFor()
  const [old] = await records(service, { search: 'vieja' })
  assert.deepEqual([old?.status, old?.date_reg], [0, '2025-12-30 08:00:00'])
  assert.equal((await records(service, { search: 'nunca-vista' }))[0]?.status, 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('an import can be stopped, and keeps what was stored', async () => {
  const { page, context, complaints } = await open()
  const lines = Array.from({ length: 6_000 }, (_, i) => `parada${i}.cl,2025-11-01 10:00:00`)
  await page.locator('input[type=file]').setInputFiles(file('larga.csv', lines.join('\n')))
  await page.getByText('algunos de los nuevos pueden existir ya').waitFor()
  let sent = 0
  // The second batch waits until it is called off.
  await page.route('**/domainwatch/add?*', (route) => (++sent === 2 ? undefined : route.continue()))
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('2.000 de 6.000 guardados').waitFor()
  await page.getByRole('button', { name: 'Detener' }).click()
  await page.getByText('Lo guardado se conserva').waitFor()
  assert.equal(sent, 2)
  assert.equal((await records(service, { search: 'parada1999' })).length, 1)
  assert.equal((await records(service, { search: 'parada2000' })).length, 0)
  await page.getByRole('button', { name: 'Continuar' }).click()
  await page.getByText('6.000 de 6.000 guardados').waitFor()
  assert.equal(sent, 4)
  assert.deepEqual(complaints, [])
  await context.close()
})
