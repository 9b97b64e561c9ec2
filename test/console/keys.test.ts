/** Keys act on what is highlighted, close what is innermost, and leave the focus where its user continues; gestures may be quick. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Route, Page, Locator } from 'playwright-core'
import { commonErrors } from '../../src/lib/errors.ts'
import { holdRequests } from '../support/gate.ts'
import { domainGrid, domainRow, toast, openScreen } from '../support/browser.ts'
import { startConsole } from '../support/console.ts'
import { record, records, stored, update } from '../support/domains.ts'

/** In the order of the table: registered on ever earlier days. */
const VETERINARIANS = Array.from({ length: 60 }, (_, i) => `veterinaria${String(i).padStart(2, '0')}`)
const nameAt = (index: number) => VETERINARIANS[index] ?? ''

const NAMES = ['casa', 'perro', 'sol']
const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
await stored(service, [
  record('casa'),
  record('sol'),
  record('casona', { status: 0 }),
  record('perro', { status: 0 }),
])
await stored(
  service,
  VETERINARIANS.map((name, i) =>
    record(name, { date_reg: `2024-01-10 10:00:${String(59 - i).padStart(2, '0')}` }),
  ),
)

const open = (path: string, visit = {}) =>
  browser.open(service, path, { domainwatch: service.domainKey }, visit)
const openVeterinarians = () => open('dominios?search=veterinaria', { height: 700 })
const box = (page: Page) => page.getByRole('searchbox')
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const isFocused = (control: Locator) => control.and(control.page().locator(':focus')).waitFor()
const discarded = async () => (await records(service, { discarded: 1 })).map(({ name }) => name).toSorted()
const activeRow = (page: Page, name: string) =>
  domainGrid(page).locator('.table-row.active').getByText(`${name}.cl`, { exact: true })

test('keys act on the highlighted row from the load on, and after a click on a filter', async () => {
  const { page } = await openVeterinarians()
  await activeRow(page, nameAt(0)).waitFor()
  for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown')
  await activeRow(page, nameAt(3)).waitFor()
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${nameAt(3)}.cl`).waitFor()
  assert.deepEqual(await discarded(), [nameAt(3)])
  await page.getByRole('button', { name: /^Inscrito/ }).click()
  await activeRow(page, nameAt(0)).waitFor()
  await page.keyboard.press('ArrowDown')
  await activeRow(page, nameAt(1)).waitFor()
  await page.keyboard.press('Control+a')
  await page.getByRole('region', { name: `${VETERINARIANS.length} seleccionados` }).waitFor()
  await update(service, [{ domain: nameAt(3), discarded: 0 }])
})

test('a key brings a row that was scrolled away back into sight, and only then acts on it', async () => {
  const { page } = await openVeterinarians()
  await activeRow(page, nameAt(0)).waitFor()
  await domainGrid(page).hover()
  await page.mouse.wheel(0, 1_500)
  await domainRow(page, nameAt(0)).waitFor({ state: 'detached' })
  await page.keyboard.press('d')
  await activeRow(page, nameAt(0)).waitFor()
  assert.deepEqual(await discarded(), [])
  await page.keyboard.press('d')
  await toast(page, `1 dominio descartado: ${nameAt(0)}.cl`).waitFor()
  assert.deepEqual(await discarded(), [nameAt(0)])
  await update(service, [{ domain: nameAt(0), discarded: 0 }])
})

test('Back undoes one change of the filters at a time, and all that was typed in a field together', async () => {
  const { page } = await open('')
  const queryIs = (query: string) =>
    page.waitForURL((url) => url.pathname + url.search === `/console/${query}`)
  await openScreen(page, 'Dominios')
  await domainRow(page, 'perro').waitFor()
  await page.getByRole('button', { name: /^Libre/ }).click()
  await queryIs('dominios?status=0')
  await page.getByRole('searchbox').press('End')
  await page.getByRole('searchbox').pressSequentially(' casa')
  await queryIs('dominios?search=casa&status=0')
  await page.getByRole('button', { name: /^Libre/ }).click()
  await queryIs('dominios?search=casa')
  await domainRow(page, 'casa').waitFor()

  await page.goBack()
  await queryIs('dominios?search=casa&status=0')
  await page.getByText('Ningún dominio coincide').waitFor()
  await page.goBack()
  await queryIs('dominios?status=0')
  await domainRow(page, 'casona').waitFor()
  assert.equal(await page.getByRole('searchbox').inputValue(), 'estado:libre')
  await page.goBack()
  await queryIs('dominios')
  await domainRow(page, 'casa').waitFor()
  await page.goBack()
  await queryIs('')
})

const offers = (page: Page) => page.getByRole('listbox', { name: 'Completar' })
const selection = (page: Page) => page.getByRole('region', { name: '1 seleccionado' })
test('Escape leaves the query box after its completions, and keeps filters and selection', async () => {
  const { page } = await open('dominios?search=o')
  await domainGrid(page).locator('#row-1').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('x')
  await selection(page).waitFor()
  await page.keyboard.press('/')
  await box(page).press('End')
  await box(page).pressSequentially(' es')
  await offers(page).waitFor()
  await page.keyboard.press('Escape')
  await offers(page).waitFor({ state: 'detached' })
  await isFocused(box(page))
  await box(page).fill('o')
  await domainGrid(page).locator('#row-1').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('x')
  await selection(page).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  assert.equal(await box(page).and(page.locator(':focus')).count(), 0)
  assert.equal(await box(page).inputValue(), 'o')
  assert.equal(await selection(page).count(), 1)
  await page.keyboard.press('Escape')
  await selection(page).waitFor({ state: 'detached' })
})

test('Escape closes a menu, a panel or a form, and neither the details nor the selection', async () => {
  const { page } = await open('dominios?ficha=sol')
  const sheet = page.getByRole('complementary', { name: 'Detalles de sol.cl' })
  await sheet.waitFor()
  await domainGrid(page).locator('#row-0 .pick').click()
  await selection(page).waitFor()
  const stays = async (what: string) => {
    assert.deepEqual([await sheet.count(), await selection(page).count()], [1, 1], what)
  }

  await page.getByRole('button', { name: 'Columnas', exact: true }).click()
  const column = page.getByRole('checkbox', { name: 'Modificación' })
  await column.waitFor()
  await page.keyboard.press('Escape')
  await column.waitFor({ state: 'detached' })
  await stays('the menu of columns')

  await page.getByRole('button', { name: 'Mi sesión' }).click()
  const keys = page.getByRole('list', { name: 'Mi sesión' })
  // Takes the focus away from the menu.
  await keys.getByText('grupo').click()
  await page.keyboard.press('Escape')
  await keys.waitFor({ state: 'detached' })
  await stays('the menu of the session')

  await page.locator('.domains-chips').getByRole('button', { name: 'Largo', exact: true }).click()
  const panel = page.getByRole('group', { name: 'Largo' })
  await panel.waitFor()
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'hidden' })
  await stays('the panel of lengths')

  await page.getByRole('button', { name: 'Más filtros' }).click()
  const form = page.getByRole('dialog', { name: 'Filtros' })
  await form.getByRole('textbox').first().focus()
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })
  await stays('the form of filters')

  await page.getByRole('button', { name: '¿Cómo funciona?' }).click()
  const help = page.getByRole('dialog', { name: '¿Cómo funciona?' })
  await help.getByRole('heading').first().click()
  assert.equal(await help.count(), 1)
  await page.mouse.click(20, 300)
  await help.waitFor({ state: 'detached' })
  await stays('a click beside the help')

  for (const field of [
    sheet.getByRole('combobox', { name: 'Etiquetas' }),
    sheet.getByRole('textbox', { name: 'Nota' }),
  ]) {
    await field.focus()
    await page.keyboard.press('Escape')
    await stays('a field of the details')
    await field.blur()
  }

  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  assert.equal(await selection(page).count(), 1)
})

/** Presses Enter on a control that the focus was moved to by keyboard. */
async function press(control: Locator) {
  await control.focus()
  await control.press('Enter')
}

test('the focus returns to the table from the selection bar and from messages', async () => {
  const { page } = await open('dominios')
  const grid = domainGrid(page)
  await domainRow(page, 'casa').waitFor()
  await grid.focus()
  await page.keyboard.press('x')
  await press(button(page, 'Quitar selección'))
  await isFocused(grid)
  await page.keyboard.press('x')
  await press(button(page, 'Marcar para revisión'))
  await isFocused(grid)
  await press(page.locator('.toast').getByRole('button', { name: 'Deshacer' }))
  await isFocused(grid)
  await toast(page, 'Deshecho').waitFor()
  await press(page.locator('.toast').getByRole('button', { name: 'Cerrar' }).first())
  await isFocused(grid)
})

test('a form begins in its first field, and a suggested name is replaced by what is typed', async () => {
  const { page } = await open('vigilancias')
  await button(page, 'Nueva alerta').click()
  await isFocused(page.getByRole('dialog').getByRole('textbox').first())
  await page.keyboard.press('Escape')
  await page.goto(`${service.url}/console/dominios?search=casa`)
  await button(page, 'Más').click()
  await button(page, 'Guardar esta vista').click()
  const name = page.getByLabel('Nombre')
  await isFocused(name)
  assert.equal(await name.getAttribute('placeholder'), 'casa')
  await page.keyboard.type('Mías')
  assert.equal(await name.inputValue(), 'Mías')
})

test('the focus returns from a removed tag to its field, and from a dialog to the menu that opened it', async () => {
  const { page } = await open('dominios?ficha=sol')
  const tags = page.getByRole('combobox', { name: 'Etiquetas' })
  await tags.fill('mar')
  await tags.press('Enter')
  await press(button(page, 'Quitar la etiqueta mar'))
  await isFocused(tags)
  const menu = page.getByRole('button', { name: 'Mi sesión' })
  await press(menu)
  await press(button(page, 'Agregar una clave'))
  await isFocused(page.getByLabel('Clave de API'))
  await page.keyboard.press('Escape')
  await isFocused(menu)
})

test('the focus does not leave the screen for the bar, and stays where a pointer left it', async () => {
  const { page } = await open('')
  await page.getByRole('navigation').getByRole('link', { name: 'Inicio', exact: true }).focus()
  await press(page.locator('main').getByRole('link').first())
  await page.waitForURL(/console\/\w/)
  await isFocused(page.locator('#content'))
  await page.goto(`${service.url}/console/dominios`)
  await domainRow(page, 'casa').waitFor()
  await page.getByRole('searchbox').focus()
  await domainRow(page, 'casa').locator('.pick').click()
  await button(page, 'Quitar selección').click()
  await button(page, 'Quitar selección').waitFor({ state: 'detached' })
  assert.equal(await page.evaluate('document.activeElement.matches("input[type=search]")'), false)
})

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
  const { page } = await open('dominios')
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
})

test('names that could not be changed are selected again only in the view where they were selected', async () => {
  const { page } = await open('dominios')
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
})

test('a double click on a button of the details, or on undo, is one click', async () => {
  const { page } = await open('dominios?ficha=sol')
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
})

test('details that come late leave the focus to a field that the user types in', async () => {
  const { page } = await open('dominios')
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
})

test('a menu closes when the focus leaves it backwards, and its choices keep their arrow keys', async () => {
  const { page } = await open('dominios')
  const columns = button(page, 'Columnas')
  const wide = page.getByRole('radio', { name: 'Filas amplias' })
  await columns.press('Enter')
  await page.getByRole('radio', { name: 'Filas compactas' }).press('ArrowDown')
  await isFocused(wide)
  assert.equal(await wide.isChecked(), true)
  await page.keyboard.press('Escape')
  await wide.waitFor({ state: 'detached' })
  await isFocused(columns)

  await columns.press('Enter')
  await wide.waitFor()
  await page.keyboard.press('Shift+Tab')
  await isFocused(box(page))
  await wide.waitFor({ state: 'detached' })
})

test('a form whose code comes late takes the keys from the start', async () => {
  const { page } = await open('dominios')
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
})
