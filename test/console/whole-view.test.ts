import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { assertAccessible, domainGrid } from '../support/browser.ts'
import { record, records, stored, update } from '../support/domains.ts'
import { eventually } from '../support/eventually.ts'
import { holdRequests } from '../support/gate.ts'

/** More than a page of the table. */
const TOTAL = 823
const { service, browser } = await startConsole()
const otherKey = (await service.newKey('Ana', 'domainwatch')).key
const viewed = Array.from({ length: TOTAL }, (_, i) => record(`vista${i}`))
await stored(service, [...viewed, record('otro')], { encoding: 'json' })

const VIEW = { starts: 'vista' }
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const bar = (page: Page) => page.getByRole('region', { name: /seleccionados?$|toda la vista/ })
const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })

async function selectView(page: Page): Promise<void> {
  await page.getByRole('checkbox', { name: 'Seleccionar las filas cargadas' }).check()
  await page.getByRole('button', { name: `Seleccionar los ${TOTAL}` }).click()
  await bar(page).getByText(`${TOTAL} seleccionados`).waitFor()
}

const countOf = async (query: Readonly<Record<string, string | number>>) =>
  (await records(service, { ...VIEW, limit: 1_024, ...query })).length

test('all records of a view are marked together, in small batches, and exactly those are undone', async () => {
  const [first, second] = await records(service, { ...VIEW, limit: 1_024 })
  // It is marked already: no change of this gesture, and none of its undo.
  await update(service, [{ domain: first?.name, revision: 1 }])
  const { page, context, complaints } = await open('dominios?starts=vista')
  await selectView(page)
  await assertAccessible(page)
  await page.setViewportSize({ width: 1_440, height: 900 })
  const gate = await holdRequests(page, 'domainwatch/update')
  await bar(page).getByRole('button', { name: 'Marcar para revisión' }).click()
  const held = [await gate.next(), await gate.next()]
  // It continues on another screen, with its progress in the bar.
  await page.getByRole('link', { name: 'Estadísticas' }).click()
  await held[0]?.pass()
  await page.locator('.task').filter({ hasText: '%' }).waitFor()
  await held[1]?.pass()
  await gate.open()
  await toast(page, `${TOTAL - 1} dominios en revisión`).waitFor()
  assert.equal(await countOf({ rev: '' }), TOTAL)
  // A colleague restores one in the meantime: undo skips it, and reports that.
  await update(service, [{ domain: second?.name, revision: 0 }], { key: otherKey, encoding: 'json' })
  await toast(page, 'dominios en revisión').getByRole('button', { name: 'Deshacer' }).click()
  await toast(page, `Deshecho: ${TOTAL - 2} dominios. A 1 lo cambió alguien mientras tanto`).waitFor()
  const left = await records(service, { ...VIEW, rev: '' })
  assert.deepEqual(
    left.map(({ name }) => name),
    [first?.name],
  )
  await update(service, [{ domain: first?.name, revision: 0 }])
  assert.deepEqual(complaints, [])
  await context.close()
})

test('stopping keeps the rest unchanged, and what was changed can be undone', async () => {
  const { page, context, complaints } = await open('dominios?starts=vista')
  await selectView(page)
  const gate = await holdRequests(page, 'domainwatch/update')
  await bar(page).getByRole('button', { name: 'Descartar' }).click()
  const held = [await gate.next(), await gate.next()]
  await page.getByRole('button', { name: /^Detener/ }).click()
  for (const one of held) await one.pass()
  await toast(page, /500 dominios descartados\. Quedaron 323 sin cambiar/).waitFor()
  assert.equal(await countOf({ dis: '' }), 500)
  await gate.open()
  await toast(page, 'dominios descartados').getByRole('button', { name: 'Deshacer' }).click()
  await toast(page, 'Deshecho: 500 dominios').waitFor()
  assert.equal(await countOf({ dis: '' }), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('what was done before the key was rejected is reported', async () => {
  const { key, id } = await service.newKey('Berta', 'domainwatch')
  const { page, context } = await browser.open(service, 'dominios?starts=vista', { domainwatch: key })
  await selectView(page)
  const gate = await holdRequests(page, 'domainwatch/update')
  await bar(page).getByRole('button', { name: 'Marcar para revisión' }).click()
  const held = [await gate.next(), await gate.next()]
  await held[0]?.pass()
  const next = await gate.next()
  await service.revokeKey(id)
  await held[1]?.pass()
  await page.getByLabel('Clave de API').waitFor()
  await next.pass()
  await toast(
    page,
    '250 dominios en revisión. Quedaron 573 sin cambiar. La clave de API no es válida',
  ).waitFor()
  assert.equal(await toast(page, '250 dominios').getByRole('button', { name: 'Deshacer' }).count(), 0)
  const changed = await records(service, { ...VIEW, rev: '', limit: 1_024 })
  assert.equal(changed.length, 250)
  await update(
    service,
    changed.map(({ name }) => ({ domain: name, revision: 0 })),
    { encoding: 'json' },
  )
  await context.close()
})

test('after a lost response, the state of the service counts', async () => {
  const { page, context } = await open('dominios?starts=vista')
  await selectView(page)
  const gate = await holdRequests(page, 'domainwatch/update')
  await bar(page).getByRole('button', { name: 'Descartar' }).click()
  await (await gate.next()).loseAnswer()
  await (await gate.next()).lose()
  await gate.open()
  await toast(page, `${TOTAL} dominios descartados`).waitFor()
  await toast(page, 'dominios descartados').getByRole('button', { name: 'Deshacer' }).click()
  await toast(page, `Deshecho: ${TOTAL} dominios`).waitFor()
  await eventually(async () => (await countOf({ dis: '' })) === 0)
  await context.close()
})

test('the next user does not see the work in progress of the previous one, which is finished', async () => {
  const { page, context, complaints } = await open('dominios?starts=vista')
  await selectView(page)
  const gate = await holdRequests(page, 'domainwatch/update')
  await bar(page).getByRole('button', { name: 'Descartar', exact: true }).click()
  const task = page.locator('.task')
  await task.filter({ hasText: 'Descartando' }).waitFor()
  await gate.next()
  await page.getByRole('button', { name: 'Mi sesión' }).click()
  await page.getByRole('button', { name: 'Salir' }).click()
  await page.getByLabel('Clave de API').fill(otherKey)
  await page.getByRole('button', { name: 'Entrar' }).click()
  await page.getByRole('button', { name: 'Mi sesión: Ana' }).waitFor()
  await domainGrid(page)
    .getByText(/^vista\d+\.cl$/)
    .first()
    .waitFor()
  assert.equal(await task.count(), 0)
  // Closing the page would still lose it.
  assert.equal(await page.evaluate('dispatchEvent(new Event("beforeunload", { cancelable: true }))'), false)
  // What is reported of it meanwhile brings it back to nobody's eyes.
  await gate.open()
  await eventually(async () => (await countOf({ dis: '' })) >= TOTAL - 250, 'the view is discarded')
  assert.equal(await task.count(), 0)
  assert.deepEqual(complaints, [])
  await context.close()
})
