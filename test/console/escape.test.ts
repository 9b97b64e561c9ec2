/** Escape closes what is innermost, and nothing behind it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainGrid } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'

const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
await stored(
  service,
  ['casa', 'perro', 'sol'].map((name) => record(name)),
)
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
const box = (page: Page) => page.getByRole('searchbox')
const offers = (page: Page) => page.getByRole('listbox', { name: 'Completar' })
const selection = (page: Page) => page.getByRole('region', { name: '1 seleccionado' })
const isFocused = async (page: Page) =>
  (await box(page).evaluate((element) => element === element.ownerDocument.activeElement)) === true

test('Escape leaves the query box after its completions, and keeps filters and selection', async () => {
  const { page, context, complaints } = await open('dominios?search=o')
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
  assert.equal(await isFocused(page), true)
  await box(page).fill('o')
  await domainGrid(page).locator('#row-1').waitFor()
  await domainGrid(page).focus()
  await page.keyboard.press('x')
  await selection(page).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  assert.deepEqual([await isFocused(page), await box(page).inputValue()], [false, 'o'])
  assert.equal(await selection(page).count(), 1)
  await page.keyboard.press('Escape')
  await selection(page).waitFor({ state: 'detached' })
  assert.deepEqual(complaints, [])
  await context.close()
})

test('Escape closes a menu, a panel or a form, and neither the details nor the selection', async () => {
  const { page, context, complaints } = await open('dominios?ficha=sol')
  const sheet = page.getByRole('complementary', { name: 'Detalles de sol.cl' })
  await sheet.waitFor()
  await domainGrid(page).locator('#row-0 .pick').click()
  await selection(page).waitFor()
  const stays = async (what: string) => {
    assert.deepEqual([await sheet.count(), await selection(page).count()], [1, 1], what)
  }

  await page.getByRole('button', { name: 'Columnas' }).click()
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
  assert.deepEqual(complaints, [])
  await context.close()
})
