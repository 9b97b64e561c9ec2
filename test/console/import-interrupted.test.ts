/** An import at the size that people have, on a service that is slow, away, or refuses. */
import { keyErrors } from '../../src/http/auth/authenticator.ts'
import { OverloadError } from '../../src/lib/errors.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible } from '../support/browser.ts'
import { records, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { errorResponse, holdRequests } from '../support/gate.ts'
import { REAL_SIZE, realNames, storeRealSize } from '../support/real-size.ts'

const { service, browser } = await startConsole()
await storeRealSize(service)
const open = () => browser.open(service, 'importar', { domainwatch: service.domainKey })
const ADD = '**/domainwatch/add?*'

/** A list of this many names, `stem0` and so on. */
const listOf = (stem: string, names: number) => ({
  name: `${stem}.csv`,
  mimeType: 'text/csv',
  buffer: Buffer.from(
    Array.from({ length: names }, (_, i) => `${stem}${i}.cl,2024-01-01 10:00:00`).join('\n'),
  ),
})
const pick = (page: Page, file: ReturnType<typeof listOf>) =>
  page.locator('input[type=file]').setInputFiles(file)
const store = (page: Page) => page.getByRole('button', { name: 'Guardar', exact: true }).click()
/** Files that the browser keeps. */
const kept = (page: Page): Promise<unknown> =>
  page.evaluate(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('catalejo')
    opening.onerror = reject
    opening.onsuccess = () => {
      const counting = opening.result.transaction('imports').objectStore('imports').count()
      counting.onsuccess = () => { opening.result.close(); resolve(counting.result) }
    }
  })`)
const exists = async (name: string) =>
  (await records(service, { search: name })).some((one) => one.name === name)

test('a whole list of the registry is compared, and importing it again changes nothing', async () => {
  const { page, context, complaints } = await open()
  // Its 109,432 names are stored in 55 requests.
  page.setDefaultTimeout(180_000)
  const lines = realNames().map(({ name, date }) => `${name}.cl,${date}`)
  const buffer = Buffer.from(
    ['Nombre Dominio,Fecha Inscripción', ...lines, 'nuevecito.cl,2025-08-01'].join('\n'),
  )
  await pick(page, { name: 'todo.csv', mimeType: 'text/csv', buffer })
  await page.getByText('109.432 dominios').waitFor()
  await page.getByText('109.431 sin cambios').waitFor()
  await page.getByText('1 nuevos').waitFor()
  await store(page)
  await page.getByText('109.432 de 109.432 guardados').waitFor()
  assert.equal(await exists('nuevecito'), true)
  assert.equal(lines.length, REAL_SIZE)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('storing continues on other screens, on a slow service, while another member works', async () => {
  const { page, context, complaints } = await open()
  let sent = 0
  page.on('request', (request) => (sent += request.url().includes('domainwatch/add') ? 1 : 0))
  const gate = await holdRequests(page, 'domainwatch/add')
  await pick(page, listOf('sigue', 6_000))
  await store(page)
  const task = page.getByRole('link', { name: /^Importando sigue\.csv/ })
  await task.waitFor()
  await page.getByRole('link', { name: 'Estadísticas' }).click()
  await page.getByRole('heading', { name: 'Estadísticas', level: 1 }).waitFor()
  await (await gate.next()).pass()
  await page.getByText('33 %').waitFor()
  // Someone else decides on a name of the list.
  assert.equal((await update(service, [{ domain: 'sigue7', revision: 1 }])).status, 200)
  await page.getByRole('link', { name: 'Inicio' }).click()
  await gate.open()
  await page.getByText('Importación terminada: 6.000 guardados').waitFor()
  await task.waitFor({ state: 'detached' })
  assert.equal(sent, 3)
  assert.equal(await exists('sigue5999'), true)
  assert.equal((await records(service, { search: 'sigue7', limit: 1, sort: 'asc' }))[0]?.revision, 1)
  // Its outcome is still shown.
  await page.getByRole('link', { name: 'Importar' }).click()
  await page.getByText('6.000 de 6.000 guardados').waitFor()
  // It stays in the history of this account, also after the page is left.
  await page.reload()
  const past = page.getByRole('region', { name: 'Importaciones anteriores' })
  await past.getByRole('row', { name: /sigue\.csv .* 6\.000 de 6\.000 guardados Completa/ }).waitFor()
  assert.equal(await past.getByRole('row').count(), 2)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the browser asks before the page is closed during an import, and the next visit resumes it', async () => {
  const { page, context, complaints } = await open()
  let sent = 0
  await page.route(ADD, (route) => (++sent === 2 ? undefined : route.continue()))
  const list = listOf('retoma', 5_000)
  await pick(page, list)
  await store(page)
  await page.getByText('2.000 de 5.000 guardados').waitFor()
  const asked = page.waitForEvent('dialog')
  // Playwright dismisses the question: the page stays.
  await page.evaluate('void setTimeout(() => location.reload())')
  assert.equal((await asked).type(), 'beforeunload')
  await page.getByText('2.000 de 5.000 guardados').waitFor()
  assert.deepEqual(complaints, ['dialog: '])

  // As after a crash.
  await page.close()
  const next = await context.newPage()
  await next.goto(`${service.url}/console/importar`)
  await next
    .getByText('La importación de retoma.csv quedó incompleta: 2.000 de 5.000.', { exact: true })
    .waitFor()
  const rows: number[] = []
  await next.route(ADD, (route) => {
    rows.push(route.request().postDataJSON().data.length)
    return route.continue()
  })
  // The browser kept the file: nobody has to look for it again.
  await next.getByRole('button', { name: 'Continuar desde el 2.001' }).click()
  await next.getByText('5.000 de 5.000 guardados').waitFor()
  assert.deepEqual(rows, [2_000, 1_000])
  assert.equal(await exists('retoma4999'), true)
  await next.getByRole('button', { name: 'Importar otra lista' }).click()
  assert.equal(await next.getByText('quedó incompleta').count(), 0)
  await eventually(async () => (await kept(next)) === 0, 'the file is removed')
  await context.close()
})

test('a browser that stores no files asks for the file, and an unfinished import can be discarded', async () => {
  const { page, context, complaints } = await open()
  await context.addInitScript("indexedDB.open = () => { throw new DOMException('', 'SecurityError') }")
  await page.reload()
  let sent = 0
  await page.route(ADD, (route) => (++sent === 2 ? undefined : route.continue()))
  const list = listOf('repite', 4_500)
  await pick(page, list)
  await store(page)
  await page.getByText('2.000 de 4.500 guardados').waitFor()
  await page.close()
  const next = await context.newPage()
  await next.goto(`${service.url}/console/importar`)
  const notice = next.getByText('quedó incompleta: 2.000 de 4.500. Elija el mismo archivo para continuar.')
  await notice.waitFor()
  assert.equal(await next.getByRole('button', { name: /^Continuar/ }).count(), 0)
  await pick(next, list)
  await next.getByRole('button', { name: 'Continuar desde el 2.001' }).waitFor()
  await next.getByRole('button', { name: 'Cancelar' }).click()
  await notice.waitFor()
  await next.getByRole('button', { name: 'Descartar' }).click()
  await notice.waitFor({ state: 'detached' })
  await next.reload()
  await next.getByRole('button', { name: 'Elegir un archivo' }).waitFor()
  assert.equal(await notice.count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('an unfinished import belongs to its account, and is removed at sign-out', async () => {
  const ana = (await service.newKey('Ana', 'domainwatch')).key
  const { page, context, complaints } = await open()
  const as = (key: string) =>
    context.addInitScript(
      (keys) => sessionStorage.setItem('catalejo.keys', keys),
      JSON.stringify({ domainwatch: key }),
    )
  const visit = async () => {
    const visited = await context.newPage()
    await visited.goto(`${service.url}/console/importar`)
    await visited.getByRole('button', { name: 'Elegir un archivo' }).waitFor()
    return visited
  }
  let sent = 0
  await page.route(ADD, (route) => (++sent === 2 ? undefined : route.continue()))
  await pick(page, listOf('mia', 4_500))
  await store(page)
  await page.getByText('2.000 de 4.500 guardados').waitFor()
  await page.close()

  await as(ana)
  const hers = await visit()
  await hers.getByRole('button', { name: 'Mi sesión: Ana' }).waitFor()
  assert.equal(await hers.getByText('quedó incompleta').count(), 0)
  await pick(hers, listOf('suya', 10))
  await store(hers)
  await hers.getByText('10 de 10 guardados').waitFor()

  await as(service.domainKey)
  const mine = await visit()
  await mine
    .getByText('La importación de mia.csv quedó incompleta: 2.000 de 4.500.', { exact: true })
    .waitFor()
  await mine.getByRole('button', { name: 'Continuar desde el 2.001' }).waitFor()
  assert.equal(await kept(mine), 1)
  await assertAccessible(mine)
  await mine.getByRole('button', { name: 'Mi sesión: grupo' }).click()
  await mine.getByRole('button', { name: 'Salir' }).click()
  await eventually(async () => (await kept(mine)) === 0, 'the file is removed')
  const again = await visit()
  await again.getByRole('button', { name: 'Mi sesión: grupo' }).waitFor()
  assert.equal(await again.getByText('quedó incompleta').count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('an import waits during an outage, retries on overload, and can be resumed after an error', async () => {
  const { page, context, complaints } = await open()
  let isAway = true
  await page.route('**/healthz', (route) => (isAway ? route.abort() : route.continue()))
  const failures = [
    errorResponse(new OverloadError()),
    'away',
    errorResponse(keyErrors.key_out_of_scope()),
  ] as const
  let sent = 0
  await page.route(ADD, (route) => {
    const failure = failures[sent++]
    if (failure === undefined) return route.continue()
    return failure === 'away' ? route.abort() : route.fulfill(failure)
  })
  await pick(page, listOf('vuelve', 2_500))
  await store(page)
  await page.getByText('El servicio no responde. La importación continuará cuando vuelva.').waitFor()
  await page.getByText('Sin conexión con el servicio').first().waitFor()
  isAway = false
  await page.getByText('Se detuvo: La clave de API no permite esta operación.').waitFor()
  assert.equal(sent, 3)
  // Work that stopped keeps nobody on the page, and stays in sight.
  await page.getByRole('link', { name: /^Importando vuelve\.csv/ }).waitFor()
  await page.getByRole('button', { name: 'Continuar' }).click()
  await page.getByText('2.500 de 2.500 guardados').waitFor()
  assert.equal(sent, 5)
  assert.equal(await exists('vuelve2499'), true)
  assert.deepEqual(complaints, [])
  await context.close()
})
