/** Where the focus of a keyboard user is after what had it is gone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import { domainGrid, domainRow } from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'

const flags = { 'dns-servers': '127.0.0.1:9' }
const { service, browser } = await startConsole({ flags })
await stored(service, [record('casa'), record('sol')])
const open = (path: string) => browser.open(service, path, { domainwatch: service.domainKey })
/** Presses Enter on a control that the focus was moved to by keyboard. */
async function press(control: Locator) {
  await control.focus()
  await control.press('Enter')
}
const isFocused = (control: Locator) => control.and(control.page().locator(':focus')).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

test('the focus returns to the table from the selection bar and from messages', async () => {
  const { page, context, complaints } = await open('dominios')
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
  await page.locator('.toast').filter({ hasText: 'Deshecho' }).waitFor()
  await press(page.locator('.toast').getByRole('button', { name: 'Cerrar' }).first())
  await isFocused(grid)
  assert.deepEqual(complaints, [])
  await context.close()
})

test('a form begins in its first field, and a suggested name is replaced by what is typed', async () => {
  const { page, context, complaints } = await open('vigilancias')
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
  assert.deepEqual(complaints, [])
  await context.close()
})

test('the focus returns from a removed tag to its field, and from a dialog to the menu that opened it', async () => {
  const { page, context } = await open('dominios?ficha=sol')
  const tags = page.getByRole('combobox', { name: 'Etiquetas' })
  await tags.fill('mar')
  await tags.press('Enter')
  await press(button(page, 'Quitar la etiqueta mar'))
  await isFocused(tags)
  const menu = page.getByRole('button', { name: 'Mi sesión' })
  await press(menu)
  await press(button(page, 'Agregar una clave'))
  await page.getByLabel('Clave de API').press('Escape')
  await isFocused(menu)
  await context.close()
})

test('the focus does not leave the screen for the bar, and stays where a pointer left it', async () => {
  const { page, context } = await open('')
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
  await context.close()
})
