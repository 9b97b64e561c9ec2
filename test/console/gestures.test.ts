import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { commonErrors } from '../../src/lib/errors.ts'
import { startConsole } from '../support/console.ts'
import { domainRow, domainGrid, toast } from '../support/browser.ts'
import { getFields, record, records, stored, update } from '../support/domains.ts'
import { holdRequests } from '../support/gate.ts'
import { storeManyDomains } from '../support/many-domains.ts'

const { service, browser } = await startConsole()
/** In the order of the list. */
const names = await storeManyDomains(service, 3_000)
const otherKey = (await service.newKey('Ana', 'domainwatch')).key

const open = (path = 'dominios') => browser.open(service, path, { domainwatch: service.domainKey })
const rowAt = (page: Page, index: number) => domainGrid(page).locator(`#row-${index}`)
const nameAt = (index: number) => names[index] ?? ''

/** Moves the active row there by keys, and returns its position. */
async function moveTo(page: Page, index: number): Promise<number> {
  await domainRow(page, nameAt(0)).waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('Home')
  for (;;) {
    const active = Number((await domainGrid(page).getAttribute('aria-activedescendant'))?.slice(4))
    await rowAt(page, active)
      .getByText(`${nameAt(active)}.cl`, { exact: true })
      .waitFor()
    if (active >= index) return active
    await page.keyboard.press(index - active > 40 ? 'PageDown' : 'ArrowDown')
  }
}

const toMarks = (name: string) => getFields(service, name, 'revision', 'discarded')
const NO_MARKS = { revision: 0, discarded: 0 }

/** Takes all marks off again, as another member. */
async function unmark(...marked: string[]) {
  await update(
    service,
    marked.map((domain) => ({ domain, revision: 0, discarded: 0 })),
    { key: otherKey },
  )
}

test('Shift+click selects all rows between, and so do keys across pages that are not loaded', async () => {
  const { page } = await open()
  await rowAt(page, 0).locator('.pick').click()
  await rowAt(page, 9)
    .locator('.pick')
    .click({ modifiers: ['Shift'] })
  await page.getByRole('region', { name: '10 seleccionados' }).waitFor()
  await page.getByRole('button', { name: 'Quitar selección' }).click()
  await rowAt(page, 2).click({ modifiers: ['Control'] })
  await rowAt(page, 11).click({ modifiers: ['Shift'] })
  await page.getByRole('region', { name: '10 seleccionados' }).waitFor()
  await page.keyboard.press('Escape')

  await moveTo(page, 0)
  await page.keyboard.press('x')
  // The first pages are not loaded any more when the last row is reached.
  const last = await moveTo(page, 700)
  assert.equal(last, 700)
  await page.keyboard.press('Shift+X')
  await page.getByRole('region', { name: `701 seleccionados` }).waitFor()
  await page.getByRole('button', { name: 'Marcar para revisión' }).click()
  await toast(page, `701 dominios en revisión`).waitFor()
  const marked = await records(service, { rev: '', limit: 1_024 })
  assert.deepEqual(
    marked.map(({ name }) => name),
    names.slice(0, 701),
  )
  // Each gets its own value back: one that was in review before is left out of the operation and of its undo.
  await page.keyboard.press('z')
  await toast(page, `Deshecho: 701 dominios`).waitFor()
  assert.deepEqual(await records(service, { rev: '' }), [])
})

test('a range waits for rows on a slow service, survives a failure, and follows names that move meanwhile', async () => {
  const { page } = await open()
  await page.clock.install()
  await page.reload()
  await moveTo(page, 0)
  await page.keyboard.press('x')
  await moveTo(page, 650)
  // From here on the page lists names for the range only.
  await page.locator('.live').waitFor()
  // Pages out of sight are forgotten after a while.
  await page.clock.fastForward(60_000)
  const gate = await holdRequests(page, 'domainwatch/list')
  await page.keyboard.press('Shift+X')
  const bar = page.locator('.selection')
  await bar.getByText('Seleccionando…').waitFor()
  assert.equal(await bar.getByRole('button', { name: 'Descartar' }).isDisabled(), true)
  // Nothing is done with half a selection.
  await page.keyboard.press('d')
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, 'El servicio está ocupado').waitFor()
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()

  const stranger = 'recien-llegado'
  await stored(service, [record(stranger, { date_reg: '2026-01-01 00:00:00' })], { key: otherKey })
  await page.keyboard.press('Shift+X')
  await (await gate.next()).pass()
  await page.getByRole('region', { name: '651 seleccionados' }).waitFor()
  await gate.open()
  await bar.getByRole('button', { name: 'Marcar para revisión' }).click()
  await toast(page, '651 dominios en revisión').waitFor()
  const marked = await records(service, { rev: '', limit: 1_024 })
  assert.deepEqual(
    marked.map(({ name }) => name),
    names.slice(0, 651),
  )
  await unmark(...names.slice(0, 651))
  await service.sql(`DELETE FROM domains WHERE name = '${stranger}'`)
})

test('undo during a request undoes exactly that request, after it completes', async () => {
  const [first, second] = [nameAt(2), nameAt(3)]
  const { page } = await open()
  await moveTo(page, 2)
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${first}.cl`).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('d')
  await domainRow(page, second).getByText('Descartado').first().waitFor()
  const request = await gate.next()
  assert.partialDeepStrictEqual(request.body, { data: [{ domain: second, discarded: 1, seen: 1 }] })
  await page.keyboard.press('z')
  // Shown as undone, though neither is stored yet.
  await domainRow(page, second).getByText('Descartado').first().waitFor({ state: 'detached' })
  await request.pass()
  const undoing = await gate.next()
  assert.partialDeepStrictEqual(undoing.body, { data: [{ domain: second, discarded: 0 }] })
  await undoing.pass()
  await toast(page, `Deshecho: ${second}.cl`).waitFor()
  assert.deepEqual(await toMarks(second), NO_MARKS)
  assert.deepEqual(await toMarks(first), { revision: 0, discarded: 1 }, 'the one before is untouched')
  await gate.open()
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${first}.cl`).waitFor()
  assert.deepEqual(await toMarks(first), NO_MARKS)
})

test('a failure restores the record and shows the reason, and undo does not affect older names', async () => {
  const [first, second] = [nameAt(4), nameAt(5)]
  const { page } = await open()
  await moveTo(page, 4)
  await page.keyboard.press('r')
  await toast(page, `1 dominio en revisión: ${first}.cl`).waitFor()
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('r')
  await domainRow(page, second).getByText('Revisión').waitFor()
  await (await gate.next()).answer(commonErrors.overloaded())
  await toast(page, `No se pudo marcar ${second}.cl para revisión: El servicio está ocupado`).waitFor()
  await domainRow(page, second).getByText('Revisión').waitFor({ state: 'detached' })
  await gate.open()
  await page.keyboard.press('z')
  await toast(page, 'No hay nada que deshacer').waitFor()
  assert.deepEqual(await toMarks(first), { revision: 1, discarded: 0 })
  // Once reported, the key undoes the previous one.
  await page.keyboard.press('z')
  await toast(page, `Deshecho: ${first}.cl`).waitFor()
  assert.deepEqual(await toMarks(first), NO_MARKS)
})

test('marks and undos in quick succession are applied in order on a slow service', async () => {
  const name = nameAt(6)
  const { page } = await open()
  await moveTo(page, 6)
  const gate = await holdRequests(page, 'domainwatch/update')
  await page.keyboard.press('d')
  await page.keyboard.press('z')
  await page.keyboard.press('r')
  await page.keyboard.press('d')
  await page.keyboard.press('z')
  await toast(page, `Deshaciendo: ${name}.cl…`).waitFor()
  // What is not stored yet would be lost with the page.
  const question = page.waitForEvent('dialog')
  await page.close({ runBeforeUnload: true })
  assert.equal((await question).type(), 'beforeunload')
  for (let i = 0; i < 3; i++) await (await gate.next()).pass()
  await page.locator('.table-row.pending').waitFor({ state: 'detached' })
  await domainRow(page, name).getByText('Revisión').waitFor()
  assert.deepEqual(await toMarks(name), { revision: 1, discarded: 0 })
  await unmark(name)
})

test('undo does not overwrite changes of another member, says so, and undoes the rest', async () => {
  const [first, second, third, fourth] = [nameAt(7), nameAt(8), nameAt(9), nameAt(10)]
  await update(service, [{ domain: third, revision: 1 }])
  const { page } = await open()
  await moveTo(page, 7)
  await rowAt(page, 7).locator('.pick').click()
  await rowAt(page, 10)
    .locator('.pick')
    .click({ modifiers: ['Shift'] })
  const bar = page.getByRole('region', { name: '4 seleccionados' })
  await bar.getByRole('button', { name: 'Marcar para revisión' }).click()
  await toast(page, '3 dominios en revisión').waitFor()
  await update(service, [{ domain: second, discarded: 1 }], { key: otherKey })
  await page.keyboard.press('z')
  await toast(page, 'Deshecho: 2 dominios').waitFor()
  await toast(page, `porque alguien lo cambió mientras tanto: ${second}.cl`).waitFor()
  assert.deepEqual(await toMarks(first), NO_MARKS)
  assert.deepEqual(await toMarks(second), { revision: 1, discarded: 1 })
  assert.deepEqual(await toMarks(third), { revision: 1, discarded: 0 }, 'it was in review before')
  assert.deepEqual(await toMarks(fourth), NO_MARKS)
  await domainRow(page, second).getByText('Descartado').first().waitFor()
  await unmark(second, third)
})

test('names deleted meanwhile are reported with the reason, and the others are marked', async () => {
  const { page } = await open()
  await moveTo(page, 11)
  await rowAt(page, 11).locator('.pick').click()
  await rowAt(page, 13)
    .locator('.pick')
    .click({ modifiers: ['Shift'] })
  await page.getByRole('region', { name: '3 seleccionados' }).waitFor()
  await service.sql(`DELETE FROM domains WHERE name = '${nameAt(12)}'`)
  await page.getByRole('button', { name: 'Marcar para revisión' }).click()
  await toast(page, `Sin cambiar: ${nameAt(12)}.cl (El dominio no está registrado en el servicio)`).waitFor()
  assert.deepEqual(await toMarks(nameAt(11)), { revision: 1, discarded: 0 })
  assert.deepEqual(await toMarks(nameAt(13)), { revision: 1, discarded: 0 })
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  await unmark(nameAt(11), nameAt(13))
})

test('j and k move past the first page of rows, and stay at a name that a link opened far down', async () => {
  const { page } = await open(`dominios?ficha=${encodeURIComponent(nameAt(198))}`)
  const sheet = (name: string) => page.getByRole('complementary', { name: `Detalles de ${name}.cl` })
  await sheet(nameAt(198)).waitFor()
  await page
    .locator('.table-row.active')
    .getByText(`${nameAt(198)}.cl`, { exact: true })
    .waitFor()
  await domainRow(page, nameAt(201)).waitFor()
  for (const at of [199, 200, 201]) {
    await page.keyboard.press('j')
    await sheet(nameAt(at)).waitFor()
  }
  await page.keyboard.press('k')
  await sheet(nameAt(200)).waitFor()
  const far = nameAt(2_500)
  await page.goto(`${service.url}/console/dominios?ficha=${encodeURIComponent(far)}`)
  await sheet(far).waitFor()
  await domainRow(page, nameAt(0)).waitFor()
  assert.equal(await page.locator('.table-row.active').count(), 0)
  await page.keyboard.press('j')
  await toast(page, 'Este nombre no está entre las filas cargadas').waitFor()
  // Marks are for the name that is shown.
  await page.keyboard.press('r')
  await toast(page, `1 dominio en revisión: ${far}.cl`).waitFor()
  assert.deepEqual(await toMarks(far), { revision: 1, discarded: 0 })
  await unmark(far)
})

test('a key that is pressed as soon as a row is shown as the active one acts on this row', async () => {
  const { page } = await open()
  await domainRow(page, nameAt(0)).waitFor()
  // Faster than any person: the observer runs right after the row is shown as the active one.
  await page.evaluate(`new MutationObserver(() => {
    if (document.querySelector('.table-row.active')?.id !== 'row-5' || globalThis.hasPressed) return
    globalThis.hasPressed = true
    document.querySelector('[role=grid]').dispatchEvent(new KeyboardEvent('keydown', { key: 'x', bubbles: true }))
  }).observe(document.body, { subtree: true, childList: true, attributes: true })`)
  // Links and the back button change the active row in an effect.
  await page.evaluate(`history.pushState(null, '', 'dominios?ficha=${encodeURIComponent(nameAt(5))}')`)
  await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  assert.equal(await domainRow(page, nameAt(5)).getAttribute('aria-selected'), 'true')
})

test('the row of the open details is the active one after a link and the back button', async () => {
  const { page } = await open(`dominios?ficha=${encodeURIComponent(nameAt(150))}`)
  const active = page.locator('.table-row.active')
  await active.getByText(`${nameAt(150)}.cl`, { exact: true }).waitFor()
  await page.keyboard.press('x')
  await page.getByRole('region', { name: '1 seleccionado' }).waitFor()
  assert.equal(await domainRow(page, nameAt(150)).getAttribute('aria-selected'), 'true')
  await domainRow(page, nameAt(151)).click()
  await active.getByText(`${nameAt(151)}.cl`, { exact: true }).waitFor()
  await page.goBack()
  await active.getByText(`${nameAt(150)}.cl`, { exact: true }).waitFor()
})
