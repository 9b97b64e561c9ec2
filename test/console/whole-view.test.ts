/** Changes of everything that matches, which the service makes: with progress, a stop and an undo that survive a reload. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible, domainGrid, toast, enterKey, signOut, showsCount } from '../support/browser.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'
import { call } from '../support/http.ts'
import { acceptedId, BULK, ended, IMPORTS, upload } from '../support/jobs.ts'
import { badLine } from '../support/slow-line.ts'

/** Several transactions of a job. */
const TOTAL = 2_131
const ALL = '2.131'
const { service, browser } = await startConsole()
const otherKey = (await service.newKey('Ana', 'domainwatch')).key
await stored(service, [...Array.from({ length: TOTAL }, (_, i) => record(`vista${i}`)), record('otro')], {
  encoding: 'json',
})

const VIEW = { starts: 'vista' }
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const bar = (page: Page) => page.getByRole('region', { name: /seleccionados?$|toda la vista/ })
const task = (page: Page) => page.locator('.task')
const act = (page: Page, name: string) => bar(page).getByRole('button', { name, exact: true })

async function selectView(page: Page, all = ALL): Promise<void> {
  await page.getByRole('checkbox', { name: 'Seleccionar las filas cargadas' }).check()
  await page.getByRole('button', { name: `Seleccionar los ${all}` }).click()
  await bar(page).getByText(`${all} seleccionados`).waitFor()
}

const countOf = async (query: Readonly<Record<string, string | number>>) => {
  const filters = { ...VIEW, ...query, api: service.domainKey }
  return Object((await call(service, '/api/v1/domainwatch/stats', { query: filters })).body).totals.records
}

/** All records of the view by their names, except when they were changed. */
async function whole(): Promise<Map<string, unknown>> {
  const query = { ...VIEW, api: service.domainKey, format: 'ndjson', fields: 'all' }
  const { text } = await call(service, '/api/v1/domainwatch/export', { query })
  const all = text.trim().split('\n')
  return new Map(
    all.map((line) => {
      const { name, ...fields }: { name: string; date_mod: string } = JSON.parse(line)
      return [name, { ...fields, date_mod: '' }]
    }),
  )
}

/** Lets the jobs of the account wait until the returned function is called. */
async function holdJobs(): Promise<() => Promise<void>> {
  const names = Array.from({ length: 200_000 }, (_, i) => `larga${i}.cl\n`).join('')
  const id = acceptedId(await upload(service, names, { format: 'deletions', dry_run: '1' }))
  return async () => {
    const { status } = await call(service, IMPORTS, {
      method: 'DELETE',
      query: { api: service.domainKey, id },
    })
    assert.equal(status, 200)
  }
}

/** Resolves to the number of records that the newest bulk change has changed, once it has ended. */
async function newestDone(): Promise<unknown> {
  const { body } = await call(service, BULK, { query: { api: service.domainKey } })
  return (await ended(service, BULK, Object(body).data[0].id))['done']
}

test('a change of all that match continues while the page is reloaded, and is undone exactly afterwards', async () => {
  const [first, second] = await records(service, { ...VIEW, limit: 2 })
  // What they had before is theirs again.
  await update(service, [{ domain: first?.name, revision: 1, note: 'de antes', tags: ['suya'] }])
  const before = await whole()
  const { page } = await open('dominios?starts=vista')
  await selectView(page)
  const release = await holdJobs()
  await act(page, 'Descartar').click()
  await task(page)
    .filter({ hasText: `Descartando ${ALL} dominios` })
    .waitFor()
  // The service has it: nothing is lost.
  assert.equal(await page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))'), true)
  await page.reload()
  await task(page)
    .filter({ hasText: `Descartando ${ALL} dominios` })
    .waitFor()
  await release()
  await toast(page, `${ALL} dominios descartados`).waitFor()
  assert.equal(await countOf({ dis: '' }), TOTAL)
  await update(service, [{ domain: second?.name, note: 'de Ana' }], { key: otherKey, encoding: 'json' })
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: 2.130 dominios. A 1 lo cambió alguien mientras tanto').waitFor()
  const after = await whole()
  for (const all of [before, after]) all.delete(second?.name ?? '')
  assert.equal(after.size, TOTAL - 1)
  assert.deepEqual(after, before)
  assert.equal(await countOf({ dis: '' }), 1)
  await update(service, [
    { domain: first?.name, revision: 0, seen: 0, note: '', tags: [] },
    { domain: second?.name, discarded: 0, seen: 0, note: '' },
  ])
})

test('a change that ended while the page was reloaded is reported after that, and can be undone', async () => {
  const { page } = await open('dominios?starts=vista')
  await selectView(page)
  const release = await holdJobs()
  await act(page, 'Descartar').click()
  await task(page)
    .filter({ hasText: `Descartando ${ALL} dominios` })
    .waitFor()
  await page.goto(`${service.url}/healthz`)
  await release()
  assert.equal(await newestDone(), TOTAL)
  await page.goBack()
  await toast(page, `${ALL} dominios descartados`).waitFor()
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${ALL} dominios`).waitFor()
  assert.equal(await countOf({ dis: '' }), 0)
  // It is reported once.
  await page.reload()
  await page.waitForResponse((response) => response.url().includes('/domainwatch/bulk'))
  await domainGrid(page).getByRole('row').nth(1).waitFor()
  assert.equal(await toast(page, `${ALL} dominios`).count(), 0)
})

test('a change that is requested while the page reads the jobs of the account is followed once', async () => {
  const { page } = await open('dominios?starts=vista')
  await page.goto(`${service.url}/healthz`)
  const gate = await holdRequests(page, 'domainwatch/bulk')
  await page.goto(`${service.url}/console/dominios?starts=vista`)
  await selectView(page)
  const listed = await gate.next()
  assert.equal(listed.body, null)
  const release = await holdJobs()
  await act(page, 'Marcar para revisión').click()
  const requested = await gate.next()
  await requested.loseAnswer()
  const found = await gate.next()
  const read = page.waitForResponse(/domainwatch\/bulk/)
  await listed.pass()
  await (await read).finished()
  await page.evaluate('new Promise(requestIdleCallback)')
  await found.pass()
  await gate.open()
  await toast(page, 'Espera a que termine otro trabajo').waitFor()
  await showsCount(task(page), 1)
  await release()
  await toast(page, `${ALL} dominios en revisión`).waitFor()
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${ALL} dominios`).waitFor()
  assert.equal(await countOf({ rev: '' }), 0)
})

test('a change that is stopped keeps what it has done, and says how many it left', async () => {
  const { page } = await open('dominios?starts=vista')
  await selectView(page)
  const release = await holdJobs()
  await act(page, 'Marcar para revisión').click()
  await toast(page, 'Espera a que termine otro trabajo').waitFor()
  await page.getByRole('button', { name: /^Detener: Marcando/ }).click()
  await toast(page, `0 dominios en revisión. Quedaron ${ALL} sin cambiar.`).waitFor()
  await release()
  assert.equal(await countOf({ rev: '' }), 0)
})

test('a change of other records than the user saw is refused with their number, and offered for those', async () => {
  const { page } = await open('dominios?starts=vista')
  await selectView(page)
  const gate = await holdRequests(page, 'domainwatch/bulk', 'POST')
  await act(page, 'Marcar para revisión').click()
  const held = await gate.next()
  await stored(
    service,
    Array.from({ length: 100 }, (_, i) => record(`vista-nueva${i}`)),
    { encoding: 'json', key: otherKey },
  )
  await held.pass()
  const dialog = page.getByRole('dialog', { name: 'Cambió lo que coincide' })
  await dialog.getByText('Ahora coinciden 2.231 dominios. Todavía no se cambió ninguno.').waitFor()
  await toast(page, /No se pudo marcar 2\.131 dominios para revisión: Ahora coinciden 2231/).waitFor()
  assert.equal(await countOf({ rev: '' }), 0)
  await gate.open()
  await dialog.getByRole('button', { name: 'Cambiar los 2.231' }).click()
  await toast(page, '2.231 dominios en revisión').waitFor()
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: 2.231 dominios').waitFor()
  assert.equal(await countOf({ rev: '' }), 0)
})

test('on a line where every fifth request fails, all that match are changed once, and undone', async () => {
  const { page } = await open('dominios?starts=vista&status=1&seen=0')
  await selectView(page, '2.231')
  const failed = await badLine(page)
  await act(page, 'Descartar').click()
  await toast(page, '2.231 dominios descartados').waitFor()
  assert.equal(await countOf({ dis: '' }), 2_231)
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: 2.231 dominios').waitFor()
  assert.equal(await countOf({ dis: '' }), 0)
  assert.equal(await countOf({ seen: 0 }), 2_231)
  assert.ok(failed() > 0)
  const query = { api: service.domainKey }
  const jobs: readonly { set: unknown; filters: { seen?: string } }[] = Object(
    (await call(service, '/api/v1/domainwatch/bulk', { query })).body,
  ).data
  const ofView = jobs.filter(({ filters }) => filters.seen === '0')
  assert.equal(ofView.length, 1, 'a lost answer starts no second job')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})

test('tags and a note are set for some rows, and for all that match', async () => {
  const { page } = await open('dominios?starts=vista-nueva')
  await page.getByRole('checkbox', { name: 'Seleccionar las filas cargadas' }).check()
  await bar(page).getByText('100 seleccionados').waitFor()
  await act(page, 'Etiquetar').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Etiquetas que se agregan' }).fill('Oferta, con espacio!')
  await dialog.getByRole('button', { name: 'Aplicar a todos' }).click()
  await dialog.getByText('Cada etiqueta lleva').waitFor()
  await dialog.getByRole('textbox', { name: 'Etiquetas que se agregan' }).fill('Oferta, verano')
  await assertAccessible(page)
  await page.setViewportSize({ width: 1_440, height: 900 })
  await dialog.getByRole('button', { name: 'Aplicar a todos' }).click()
  await toast(page, '100 dominios con otras etiquetas').waitFor()
  assert.equal(await countOf({ tag: 'oferta' }), 100)

  for (const row of [0, 2]) await page.locator(`#row-${row} .pick`).click()
  await act(page, 'Etiquetar').click()
  await dialog.getByRole('textbox', { name: 'Etiquetas que se quitan' }).fill('verano')
  await dialog.getByRole('button', { name: 'Aplicar a todos' }).click()
  await toast(page, '2 dominios con otras etiquetas').waitFor()
  assert.equal(await countOf({ tag: 'verano' }), 98)
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: 2 dominios').waitFor()
  assert.equal(await countOf({ tag: 'verano' }), 100)

  await page.goto(`${service.url}/console/dominios?starts=vista`)
  await selectView(page, '2.231')
  await act(page, 'Anotar').click()
  await dialog.getByRole('textbox').fill('para la reunión')
  await dialog.getByRole('button', { name: 'Aplicar a todos' }).click()
  await toast(page, '2.231 dominios con otra nota').waitFor()
  const notes = [...(await whole()).values()].filter((one) => Object(one).note === 'para la reunión')
  assert.equal(notes.length, 2_231)
})

test('the next user does not see the work in progress of the previous one, which the service finishes', async () => {
  const { page } = await open('dominios?starts=vista')
  await selectView(page, '2.231')
  const release = await holdJobs()
  await act(page, 'Descartar').click()
  await task(page).filter({ hasText: 'Descartando' }).waitFor()
  await signOut(page)
  await enterKey(page, otherKey)
  await page.getByRole('button', { name: 'Mi sesión: Ana' }).waitFor()
  await domainGrid(page)
    .getByText(/^vista.*\.cl$/)
    .first()
    .waitFor()
  assert.equal(await task(page).count(), 0)
  await release()
  assert.equal(await newestDone(), 2_231)
  assert.equal(await countOf({ dis: '' }), 2_231)
  assert.equal(await task(page).count(), 0)
  assert.equal(await toast(page, 'descartados').count(), 0)
})
