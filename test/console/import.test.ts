import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { barriers, startBrowser, type TestBrowser } from '../support/browser.ts'
import { record, records, stored } from '../support/domains.ts'
import { startService, type TestService } from '../support/service.ts'

let service: TestService
let browser: TestBrowser

before(async () => {
  ;[service, browser] = await Promise.all([startService(), startBrowser()])
  await stored(service, [
    record('vieja', { date_reg: '2025-12-30 08:00:00' }),
    record('vendida', { date_reg: '2025-12-30 09:00:00', status: 0 }),
    // Recorded with a date that lies in none of the list's days.
    record('renovada', { date_reg: '2019-05-01 09:00:00', status: 0 }),
  ])
})
after(async () => {
  await browser?.[Symbol.asyncDispose]()
  await service?.[Symbol.asyncDispose]()
})

const open = () => browser.open(service, 'importar', { domainwatch: service.domainKey })
const file = (name: string, text: string | Buffer) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.from(text),
})

test('a list of registrations: what it will change, its progress, and the lines that are refused', async () => {
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
  await page.getByText('2.504 dominios').waitFor()
  await page.getByText('1 cambian').waitFor()
  await page.getByText('1 iguales').waitFor()
  await page.getByText('2.502 nuevos').waitFor()
  assert.deepEqual(await barriers(page), [])
  assert.equal((await records(service, { search: 'ñandú' })).length, 0, 'nothing is stored by looking')
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('2.503 de 2.504 guardados').waitFor()
  await page.getByText('Línea 5').waitFor()
  await page.getByText('El campo domain debe ser un nombre de dominio .cl válido, sin el sufijo').waitFor()
  await page.getByText('Línea 6').waitFor()
  assert.equal((await records(service, { search: 'ñandú' }))[0]?.date_reg, '2025-12-31 10:00:00')
  assert.equal((await records(service, { search: 'vendida' }))[0]?.status, 1)
  assert.equal((await records(service, { search: 'lote' })).length, 1_024)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a name that is recorded with a date outside the days of the list changes, and is not new', async () => {
  const { page, context } = await open()
  const lines = ['renovada.cl,2025-12-31 12:00:00', 'recien-llegada.cl,2025-12-31 12:00:00']
  await page.locator('input[type=file]').setInputFiles(file('inscritos.csv', lines.join('\n')))
  await page.getByText('1 cambian').waitFor()
  await page.getByText('1 nuevos').waitFor()
  await context.close()
})

test('a list of deletions frees what is recorded, and records what is not', async () => {
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

test('a long list stops where one says so, and what was stored until then stays', async () => {
  const { page, context, complaints } = await open()
  const lines = Array.from({ length: 6_000 }, (_, i) => `parada${i}.cl,2025-11-01 10:00:00`)
  await page.locator('input[type=file]').setInputFiles(file('larga.csv', lines.join('\n')))
  await page.getByText('algunos de los nuevos pueden estar ya').waitFor()
  let sent = 0
  // The second batch waits until it is called off.
  await page.route('**/domainwatch/add?*', (route) => (++sent === 2 ? undefined : route.continue()))
  await page.getByRole('button', { name: 'Guardar' }).click()
  await page.getByText('2.000 de 6.000 guardados').waitFor()
  await page.getByRole('button', { name: 'Detener' }).click()
  await page.getByRole('button', { name: 'Cancelar' }).waitFor()
  assert.equal(sent, 2)
  assert.equal((await records(service, { search: 'parada1999' })).length, 1)
  assert.equal((await records(service, { search: 'parada2000' })).length, 0)
  assert.deepEqual(complaints, [])
  await context.close()
})
