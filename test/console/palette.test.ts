/** The command palette, and who is signed in. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { startConsole } from '../support/console.ts'
import {
  accessibilityViolations,
  waitForExpression,
  assertAccessible,
  enterKey,
  showsCount,
} from '../support/browser.ts'
import { record, stored } from '../support/domains.ts'

const { service, browser } = await startConsole()
await stored(
  service,
  ['casa', 'casaquinta', 'mi-casa', 'ñandú'].map((name) => record(name)),
)
const open = (path: string, visit = {}) =>
  browser.open(service, path, { domainwatch: service.domainKey, imagestore: service.imageKey }, visit)
const field = (page: Page, name = 'Paleta de comandos') => page.getByRole('combobox', { name })
/** The names among the options. */
const names = (page: Page) => page.getByRole('group', { name: 'Nombres' }).getByRole('option')
const option = (page: Page, name: string | RegExp) => page.getByRole('option', { name })
/** Waits until Enter would choose an option that starts with this, by its ARIA state. */
const becomesActive = (page: Page, text: string) =>
  waitForExpression(
    page,
    `document.getElementById(document.querySelector('[role=combobox]')?.getAttribute('aria-activedescendant'))
      ?.textContent.startsWith(${JSON.stringify(text)})`,
  )

test('screens and settings come before names, and are found by other words; Enter alone never signs out', async () => {
  await stored(service, [record('oscuro'), record('sistema')])
  const { page } = await open('dominios')
  await page.getByRole('grid').getByText('ñandú.cl').waitFor()
  await page.keyboard.press('Control+k')
  const actions = page
    .getByRole('group')
    .filter({ has: option(page, 'Salir') })
    .getByRole('option')
  await actions.nth(1).waitFor()
  assert.match(await actions.last().innerText(), /^Salir/)
  for (const [words, found] of [
    ['ayuda', '¿Cómo funciona?'],
    ['modo oscuro', 'Tema: Oscuro'],
    ['cerrar sesión', 'Salir'],
    ['salir', 'Salir'],
    ['atajos', '¿Cómo funciona?'],
  ] as const) {
    await field(page).fill(words)
    await becomesActive(page, found)
  }
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: '¿Cómo funciona?' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await field(page).fill('oscuro')
  await option(page, /^oscuro\.cl/).waitFor()
  const options = (await page.locator('[role=option]').allInnerTexts()).map((one) => one.split('\n')[0])
  assert.deepEqual(options, ['Tema: Oscuro', 'oscuro.cl', 'Buscar «oscuro» en Dominios'])
  await field(page).fill('sistema')
  await option(page, /^sistema\.cl/).waitFor()
  await becomesActive(page, 'Sistema')
  await option(page, 'Sistema (necesita una clave de administración)').waitFor()
  await assertAccessible(page)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /administración/ }).waitFor()
})

test('Ctrl K opens it on every screen, also in text fields, and it opens screens by name', async () => {
  const { page } = await open('dominios')
  await page.getByRole('grid').getByText('ñandú.cl').waitFor()
  await page.getByRole('searchbox').focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('estad')
  await option(page, 'Estadísticas').waitFor()
  assert.equal(await option(page, 'Importar').count(), 0)
  await waitForExpression(
    page,
    `document.querySelector('[role=option][aria-selected=true]')?.textContent === 'Estadísticas'`,
  )
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Estadísticas', level: 1 }).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.equal(await page.evaluate('document.activeElement.id'), 'content')

  await page.keyboard.press('Meta+k')
  await option(page, 'Alertas').waitFor()
  await page.keyboard.press('Escape')
  await field(page).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Ir a…' }).click()
  await field(page).waitFor()
  await page.keyboard.press('Control+k')
  await field(page).waitFor({ state: 'detached' })
  // It belongs to the screen where it was opened.
  await page.keyboard.press('Control+k')
  await field(page).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Dominios', level: 1 }).waitFor()
  await field(page).waitFor({ state: 'detached' })
})

test('names are found while typing: an exact match first, with `www.` and `.cl` left out, and open their details', async () => {
  const { page } = await open('')
  await page.getByRole('heading', { name: 'Inicio', level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('www.casa.cl')
  await option(page, /^mi-casa\.cl/).waitFor()
  // Names found for a shorter text may be shown until those for the whole text come.
  await page.getByText('Buscando nombres…').first().waitFor({ state: 'detached' })
  await becomesActive(page, 'casa.cl')
  await showsCount(names(page), 3)
  for (const name of ['casa', 'casaquinta', 'mi-casa'])
    await names(page)
      .filter({ hasText: new RegExp(`^${name}\\.cl`) })
      .waitFor()
  await page.keyboard.press('ArrowUp')
  await becomesActive(page, 'Buscar «casa» en Dominios')
  await page.keyboard.press('ArrowDown')
  await becomesActive(page, 'casa.cl')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'Detalles de casa.cl' }).waitFor()
})

test('results of an older query never replace those of a newer one, and loading is shown', async () => {
  const { page } = await open('')
  await page.getByRole('heading', { name: 'Inicio', level: 1 }).waitFor()
  const held = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  await page.route(/search=casa(&|$)/, async (route) => {
    held.resolve()
    await left.promise
    await route.continue().catch(() => undefined)
  })
  await page.keyboard.press('Control+k')
  await field(page).fill('casa')
  await held.promise
  await page.getByText('Buscando nombres…').first().waitFor()
  const cancelled = page.waitForEvent('requestfailed', (request) => request.url().includes('search=casa&'))
  await field(page).fill('ñandú')
  await option(page, /^ñandú\.cl/).waitFor()
  await cancelled
  left.resolve()
  await page.getByText('Buscando nombres…').first().waitFor({ state: 'detached' })
  await showsCount(names(page), 1)
})

test('it offers the actions of the screen, and says when nothing matches, in both languages', async () => {
  const { page } = await open('dominios?search=casa', { language: 'en' })
  await page.getByRole('grid').getByText('casaquinta.cl').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('clear')
  await option(page, 'Clear filters').click()
  await page.getByRole('grid').getByText('ñandú.cl').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('dark')
  await option(page, 'Theme: Dark').click()
  assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
  await page.keyboard.press('Control+k')
  await page.keyboard.type('export csv')
  const download = page.waitForEvent('download')
  await page.keyboard.press('Enter')
  assert.equal((await download).suggestedFilename(), 'dominios.csv')
  await page.getByText('Exported: 6 lines').waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('??')
  await page.getByText('Nothing matches').waitFor()
  await field(page, 'Command palette').fill('zzz')
  await option(page, 'Search for “zzz” in Domains').click()
  await page.getByText('No matching domains').waitFor()
})

test('the session menu shows the accounts of keys, adds a key, and changes the language', async () => {
  const { page } = await browser.open(service, '', { domainwatch: service.domainKey })
  await page.getByRole('button', { name: /^Mi sesión: / }).click()
  await page.getByText('Clave de dominios').waitFor()
  await page.getByRole('button', { name: 'Agregar una clave' }).click()
  await enterKey(page, service.imageKey)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Mi sesión: / }).click()
  await page.getByText('Clave de imágenes', { exact: true }).waitFor()
  assert.deepEqual(await accessibilityViolations(page), [])
  await page.getByLabel('Idioma').selectOption('en')
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor()
})
